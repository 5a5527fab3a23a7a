import type { Answer, Call } from "@holdfast/protocol";
import { nameOf } from "../../format.ts";
import { isObject } from "../../rows.ts";
import { settledWords } from "../../settled-words.ts";
import { useSeat } from "../../session-actions.ts";
import { Clock } from "../time.tsx";
import { AnswerView } from "./answer-view.tsx";

/** What a call was answered with. */
export function Result({ answer }: { readonly answer: Answer }) {
  return (
    <section className="answer" aria-label="Result">
      <h4 className="label">Result</h4>
      <AnswerView answer={answer} />
    </section>
  );
}

/** How a call ended that has no good answer: who or what ended it, when and why, and what can be done. */
export function Ending({ call }: { readonly call: Call }) {
  const { me } = useSeat();
  const words = settledWords(call, (principal) => (principal === me ? "you" : nameOf(principal)));
  const failed = call.outcome === "error" && call.reason !== "declined";
  return (
    <section className="ending" aria-label="How it ended">
      <p className={failed ? "ending-error" : undefined}>
        {failed ? (errorText(call) ?? words.what) : words.what}
      </p>
      {words.quote !== undefined && <blockquote>{words.quote}</blockquote>}
      <p className="label">
        {failed && errorText(call) !== undefined && `${words.what} `}
        {words.next}
        {call.settledAt !== undefined && (
          <>
            {" "}
            <Clock at={call.settledAt} />
          </>
        )}
        {call.reason && (
          <>
            {" "}
            <code>{call.reason}</code>
          </>
        )}
      </p>
      {failed && call.answer && isDetailed(call) && (
        <details className="answer-details">
          <summary className="label">Details</summary>
          <AnswerView answer={call.answer.answer} />
        </details>
      )}
    </section>
  );
}

/** "Ana approved · 10:42", for a call that somebody decided. */
export function DecisionLine({ call }: { readonly call: Call }) {
  const { me } = useSeat();
  const decision = call.approval?.decision;
  if (!decision || !decision.approved) return null;
  return (
    <p className="decision label">
      {decision.automatic
        ? automaticWords(decision.onBehalfOf, me)
        : `${decision.by === me ? "You" : nameOf(decision.by)} approved`}
      {decision.edited && " with changes"} · <Clock at={decision.at} />
      {decision.reason !== undefined && ` · “${decision.reason}”`}
    </p>
  );
}

function automaticWords(principal: string | undefined, me: string): string {
  if (principal === undefined) return "Approved automatically, by rule";
  return `Approved automatically, ${principal === me ? "you" : nameOf(principal)} said always`;
}

/** The words of an error, wherever its executor put them. */
function errorText(call: Call): string | undefined {
  if (call.invalid) return call.invalid.message;
  const answer = call.answer?.answer;
  if (answer?.type === "text") return answer.text;
  if (answer?.type === "json") {
    if (typeof answer.value === "string") return answer.value;
    if (isObject(answer.value)) {
      const message = answer.value["message"] ?? answer.value["error"];
      if (typeof message === "string") return message;
    }
  }
  return call.message;
}

function isDetailed(call: Call): boolean {
  const answer = call.answer?.answer;
  return answer?.type === "parts" || (answer?.type === "json" && isObject(answer.value));
}
