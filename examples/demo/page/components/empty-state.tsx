import { useAction } from "../hooks/use-action.ts";
import { Icon, type IconName } from "./icons.tsx";
import { Mishap } from "./mishap.tsx";

const things: readonly { icon: IconName; ask: string; about: string }[] = [
  {
    icon: "sun",
    ask: "What is the weather in Oslo?",
    about: "A server tool: the agent runs it by itself.",
  },
  {
    icon: "place",
    ask: "Where am I?",
    about: "A client tool: the browser that claims it runs it.",
  },
  {
    icon: "person",
    ask: "Send 50 EUR to Ben for lunch",
    about: "A gated tool: it waits until a person approves, here or in another browser.",
  },
];

/** What to try first: one thing for each kind of tool. */
export function EmptyState({ onAsk }: { readonly onAsk: (text: string) => Promise<void> }) {
  const send = useAction(onAsk);
  return (
    <div className="empty">
      <h1>Try one of these</h1>
      <p className="label">
        Then reload in the middle of it, or open this session as someone else and decide from there.
      </p>
      <ul>
        {things.map(({ icon, ask, about }) => (
          <li key={ask}>
            <button type="button" className="try" onClick={() => void send.run(ask)}>
              <Icon name={icon} />
              <span>
                <span className="try-ask">{ask}</span>
                <span className="label">{about}</span>
              </span>
            </button>
          </li>
        ))}
      </ul>
      <Mishap error={send.error} />
    </div>
  );
}
