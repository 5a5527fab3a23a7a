import type { HoldfastError, Json } from "@holdfast/protocol";
import { useEffect, useMemo, useRef, useState, useSyncExternalStore } from "react";
import {
  declarationOf,
  provideTool,
  type ClientTool,
  type ProvideOptions,
  type Session,
  type ToolProvision,
  type ToolRequest,
} from "../client/index.ts";

export interface ClientToolInUse {
  /** Why it last failed to advertise, claim or answer. */
  readonly error: HoldfastError | undefined;
  /** The tool's calls that run somewhere or wait for a person (see `ToolProvision`). None while rendering on a server. */
  readonly requests: readonly ToolRequest[];
}

/**
 * Executes a session's calls of one tool while the component is mounted (see `provideTool`): each call once, whichever
 * tab, device or component is granted it, and however often React mounts this one. `execute` may be a new function in
 * every render; the latest is used. A call that runs when the component goes is finished and answered all the same.
 *
 * With `confirm` nothing is claimed or executed before `run` of one of the `requests` is called, which every page of the
 * session shows: the first to press has it, and whoever ignores it holds nothing.
 */
export function useClientTool<Args = Json>(
  session: Session,
  tool: ClientTool<Args>,
  { heartbeatMs, confirm = false }: Pick<ProvideOptions, "heartbeatMs" | "confirm"> = {},
): ClientToolInUse {
  const [error, setError] = useState<HoldfastError>();
  const [provision, setProvision] = useState<ToolProvision>();
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
    const provided = provideTool<Args>(
      session,
      {
        ...latest.current,
        execute: (args, context) => latest.current.execute(args, context),
      },
      { onError: setError, confirm, ...(heartbeatMs !== undefined && { heartbeatMs }) },
    );
    setProvision(provided);
    return () => provided.close();
    // What is declared says all there is in the tool, whose objects are new in every render.
    // eslint-disable-next-line react/exhaustive-deps
  }, [session, declared, heartbeatMs, confirm]);
  const requests = useSyncExternalStore(
    provision?.subscribe ?? hearNothing,
    provision?.requests ?? none,
    none,
  );
  return { error, requests };
}

const NONE: readonly ToolRequest[] = [];
const none = () => NONE;
const hearNothing = () => () => {};
