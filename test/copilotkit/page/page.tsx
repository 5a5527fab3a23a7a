import {
  CopilotChat,
  CopilotKitProvider,
  useFrontendTool,
  useHumanInTheLoop,
  useInterrupt,
} from "@copilotkit/react-core/v2";
import { createRoot } from "react-dom/client";
import { z } from "zod";

// A page as CopilotKit's documentation has them. Its address says which runtime it asks, how, and for which thread.
const asked = new URLSearchParams(location.search);
const agentId = "demo";

function Page() {
  useFrontendTool({
    name: "page",
    description: "Asks the page.",
    parameters: z.object({}),
    async handler() {
      const executions = 1 + Number(localStorage.getItem("executions") ?? 0);
      localStorage.setItem("executions", String(executions));
      return `here ${executions}`;
    },
  });
  useHumanInTheLoop({
    name: "confirm",
    description: "Asks the person.",
    parameters: z.object({}),
    render: ({ respond }) =>
      respond ? <button onClick={() => void respond("yes")}>Yes</button> : <p>Asked.</p>,
  });
  useInterrupt({
    agentId,
    render: ({ resolve }) => (
      <button onClick={() => void resolve({ approved: true })}>Approve</button>
    ),
  });
  return <CopilotChat agentId={agentId} threadId={asked.get("thread") ?? ""} />;
}

const root = document.querySelector("#root");
if (!root) throw new Error("The page has no root.");
createRoot(root).render(
  <CopilotKitProvider
    runtimeUrl={asked.get("runtime") ?? ""}
    useSingleEndpoint={asked.has("single")}
    enableInspector={false}
  >
    <Page />
  </CopilotKitProvider>,
);
