import {
  canonical,
  type CommandBody,
  type SessionState,
  type ToolDeclaration,
} from "@holdfast/protocol";
import type { AgUiInput } from "@holdfast/protocol/ag-ui";

/** Advertises what of the input's tools the session does not know as it is. Clients execute them. */
export function advertisedIn({ tools }: AgUiInput, { session }: SessionState): CommandBody[] {
  const known = new Map(
    session.advertised.map(({ tool: { digest: _, ...tool } }) => [tool.name, canonical(tool)]),
  );
  // The last of a name holds, as it does when they are advertised one by one.
  const declared = new Map(tools.map((tool) => [tool.name, declarationOf(tool)]));
  const fresh = [...declared.values()].filter((tool) => known.get(tool.name) !== canonical(tool));
  return fresh.length === 0 ? [] : [{ type: "tools.advertise", tools: fresh }];
}

function declarationOf({
  name,
  description,
  parameters,
  metadata,
}: AgUiInput["tools"][number]): ToolDeclaration {
  return {
    name,
    description,
    ...(isSchema(parameters) && { parameters }),
    ...(metadata && { metadata }),
  };
}

function isSchema(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
