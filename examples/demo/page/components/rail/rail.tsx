import type { Call, Entry, Run, SessionRow } from "@holdfast/protocol";
import { useAction } from "../../hooks/use-action.ts";
import { useSeat } from "../../session-actions.ts";
import { nameOf, shortOffset } from "../../format.ts";
import { ShortId } from "../short-id.tsx";
import { Mishap } from "../mishap.tsx";
import { Ago } from "../time.tsx";
import { EntryList } from "./entry-list.tsx";

type Grant = NonNullable<SessionRow["grants"]>[number];

/** Something that waits, and for whom. */
export interface Waits<Of> {
  readonly of: Of;
  /** "a person to decide", "Ana", "the agent". */
  readonly forWhom: string;
  readonly since: number;
}

export interface RailFacts {
  readonly head: string;
  readonly runs: readonly Waits<Run>[];
  readonly calls: readonly Waits<Call>[];
  /** Tools that run without asking, because somebody said always. */
  readonly grants: readonly Grant[];
  /** The newest last. */
  readonly entries: readonly Entry[];
}

/** What the server knows: runs that have not ended, calls that are open, and the log as it grows. */
export function Rail({ head, runs, calls, grants, entries }: RailFacts) {
  return (
    <div className="rail-content">
      <section>
        <h3 className="label">Run</h3>
        {runs.length === 0 ? (
          <p className="label">None. The next message starts one.</p>
        ) : (
          <ul className="rail-list">
            {runs.map((waits) => (
              <RunFacts key={waits.of.id} {...waits} />
            ))}
          </ul>
        )}
      </section>
      <section>
        <h3 className="label">Open calls</h3>
        {calls.length === 0 ? (
          <p className="label">None.</p>
        ) : (
          <ul className="rail-list">
            {calls.map((waits) => (
              <CallFacts key={waits.of.id} {...waits} />
            ))}
          </ul>
        )}
      </section>
      {grants.length > 0 && (
        <section>
          <h3 className="label">Runs without asking</h3>
          <ul className="rail-list">
            {grants.map((grant) => (
              <GrantFacts key={grant.tool} {...grant} />
            ))}
          </ul>
        </section>
      )}
      <section className="rail-log">
        <h3 className="label">
          Log <span className="number">· at {shortOffset(head)}</span>
        </h3>
        <EntryList entries={entries} />
      </section>
    </div>
  );
}

function GrantFacts({ tool, by, at }: Grant) {
  const { me, actions } = useSeat();
  const revoke = useAction(() => actions.revokeApproval(tool));
  return (
    <li className="facts">
      <p className="facts-title">
        <strong>{tool}</strong>
        <button
          type="button"
          className="link-button"
          disabled={revoke.busy}
          aria-label={`Take back: ${tool} asks again`}
          onClick={() => void revoke.run()}
        >
          Take back
        </button>
      </p>
      <p className="label">
        {by === me ? "You" : nameOf(by)} said always · <Ago at={at} />
      </p>
      <Mishap error={revoke.error} />
    </li>
  );
}

function RunFacts({ of: run, forWhom, since }: Waits<Run>) {
  return (
    <li className="facts" data-status={run.status}>
      <p className="facts-title">
        <strong>{run.status}</strong>
        <span className="label number">
          {run.attempt === 0 ? "no attempt yet" : `attempt ${run.attempt}`}
          {run.round > 0 && `, round ${run.round}`}
        </span>
      </p>
      <p className="label">
        {run.status === "active" ? (
          <>
            Held by <span className="mono">{run.worker}</span>
          </>
        ) : (
          `Waits for ${forWhom}`
        )}{" "}
        · <Ago at={since} />
      </p>
      <ShortId id={run.id} />
    </li>
  );
}

function CallFacts({ of: call, forWhom, since }: Waits<Call>) {
  return (
    <li className="facts" data-status={call.status}>
      <p className="facts-title">
        <strong>{call.name}</strong>
        <span className="label">{call.status}</span>
      </p>
      <p className="label">
        Waits for {forWhom} · <Ago at={since} />
      </p>
      {call.claim && (
        <p className="label">
          Claimed by {nameOf(call.claim.by)} <ShortId id={call.claim.id} />
        </p>
      )}
      <ShortId id={call.id} />
    </li>
  );
}
