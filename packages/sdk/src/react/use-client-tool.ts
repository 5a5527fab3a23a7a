import type { HoldfastError, Json } from "@holdfast/protocol";
import { useEffect, useRef, useState } from "react";
import {
  provideTool,
  type ClientTool,
  type ProvideOptions,
  type Session,
} from "../client/index.ts";

/**
 * Executes a session's calls of one tool while the component is mounted (see `provideTool`): each call once, whichever
 * tab, device or component is granted it, and however often React mounts this one. `execute` may be a new function in
 * every render; the latest is used. A call that runs when the component goes is finished and answered all the same.
 *
 * @returns why it last failed to advertise, claim or answer
 */
export function useClientTool<Args = Json>(
  session: Session,
  tool: ClientTool<Args>,
  { heartbeatMs }: Pick<ProvideOptions, "heartbeatMs"> = {},
): { readonly error: HoldfastError | undefined } {
  const [error, setError] = useState<HoldfastError>();
  const latest = useRef(tool);
  useEffect(() => {
    latest.current = tool;
  });
  const { execute: _, ...declaration } = tool;
  const declared = JSON.stringify(declaration);
  useEffect(() => {
    const provision = provideTool<Args>(
      session,
      {
        ...(JSON.parse(declared) as typeof declaration),
        execute: (args, context) => latest.current.execute(args, context),
      },
      { onError: setError, ...(heartbeatMs !== undefined && { heartbeatMs }) },
    );
    return () => provision.close();
  }, [session, declared, heartbeatMs]);
  return { error };
}
