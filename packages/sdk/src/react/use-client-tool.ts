import type { HoldfastError, Json } from "@holdfast/protocol";
import { useEffect, useMemo, useRef, useState } from "react";
import {
  declarationOf,
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
  // Converting a schema costs something, and few renders bring another one.
  const { execute: _, parameters, result, ...rest } = tool;
  const schemas = useMemo(
    () =>
      declarationOf({
        name: "",
        ...(parameters && { parameters }),
        ...(result && { result }),
        execute: () => {},
      }),
    [parameters, result],
  );
  const declared = JSON.stringify([rest, schemas]);
  useEffect(() => {
    const provision = provideTool<Args>(
      session,
      {
        ...latest.current,
        execute: (args, context) => latest.current.execute(args, context),
      },
      { onError: setError, ...(heartbeatMs !== undefined && { heartbeatMs }) },
    );
    return () => provision.close();
    // What is declared says all there is in the tool, whose objects are new in every render.
    // eslint-disable-next-line react/exhaustive-deps
  }, [session, declared, heartbeatMs]);
  return { error };
}
