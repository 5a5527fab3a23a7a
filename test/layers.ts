import { posix } from "node:path";
import type { Import, Source } from "./imports.ts";

/** A part of the source tree and what it may import, itself aside. */
export type Layer = {
  readonly name: string;
  /** Path prefixes, from the repository's root; the longest match over all layers wins. */
  readonly at: readonly string[];
  /** The layers it may import. */
  readonly uses: readonly string[];
  /** Which packages of others it may import; without it, any. */
  readonly external?: (imported: Import) => boolean;
};

const notNode = ({ specifier }: Import): boolean => !specifier.startsWith("node:");
const onlyAgUiTypes = ({ specifier, typeOnly }: Import): boolean =>
  typeOnly && specifier === "@ag-ui/core";
const schemaPackages = ({ specifier }: Import): boolean =>
  ["zod", "@ag-ui/core", "@ag-ui/core/schemas"].includes(specifier);

const agUiPackages = ({ specifier, typeOnly }: Import): boolean =>
  specifier === "fast-json-patch" || (typeOnly && specifier === "@ag-ui/core");

const client = [
  "sdk/wire",
  "sdk/client",
  "sdk/agent",
  "sdk/react",
  "sdk/codec",
  "sdk/durable",
  "sdk/copilotkit",
];
const server = [
  "server/contract",
  "server/storage",
  "server/audit",
  "server/engine",
  "server/auth",
  "server/http",
  "server/webhooks",
  "server/upstream",
  "server/ws",
  "server",
];

/**
 * Who may import whom. `protocol` is below everything, so every layer may use it; `protocol/schemas`
 * (zod) is for the edges, where bytes are parsed. Everything not listed is forbidden.
 */
export const layers: readonly Layer[] = [
  { name: "protocol", at: ["packages/protocol/src/"], uses: [], external: onlyAgUiTypes },
  {
    name: "protocol/schemas",
    at: ["packages/protocol/src/schemas/"],
    uses: ["protocol"],
    external: schemaPackages,
  },
  {
    // The AG-UI protocol beside ours: its rules, and how its threads are told of sessions. Pure like all of it.
    name: "protocol/ag-ui",
    at: ["packages/protocol/src/ag-ui/"],
    uses: ["protocol"],
    external: agUiPackages,
  },

  { name: "sdk", at: ["packages/sdk/src/"], uses: ["protocol"], external: notNode },
  sdk("codec", ["protocol", "protocol/ag-ui"]),
  // Speaks HTTP for client and agent, which know nothing of each other.
  sdk("wire", ["protocol"]),
  sdk("client", ["protocol", "protocol/schemas", "sdk/wire"]),
  sdk("agent", ["protocol", "protocol/schemas", "sdk/wire"]),
  sdk("react", ["protocol", "sdk/client"]),
  // Its runner works as an agent does, and reads the AG-UI face.
  sdk("copilotkit", ["protocol", "protocol/ag-ui", "sdk/wire", "sdk/agent", "sdk/codec"]),
  sdk("durable", ["protocol", "sdk/agent"]),
  {
    name: "sdk/testing",
    at: ["packages/sdk/src/testing/"],
    uses: ["protocol", "protocol/schemas", ...client, ...server],
  },

  { name: "server/contract", at: ["packages/server/src/storage/storage.ts"], uses: ["protocol"] },
  {
    name: "server/storage",
    at: ["packages/server/src/storage/"],
    uses: ["protocol", "server/contract"],
  },
  {
    // The chain and its verification, which need no server.
    name: "server/audit",
    at: ["packages/server/src/audit/"],
    uses: ["protocol", "server/contract"],
  },
  {
    name: "server/engine",
    at: ["packages/server/src/engine/"],
    uses: ["protocol", "server/contract", "server/audit"],
  },
  {
    // Revocations are stored.
    name: "server/auth",
    at: ["packages/server/src/auth/"],
    uses: ["protocol", "server/contract"],
  },
  {
    name: "server/http",
    at: ["packages/server/src/http/"],
    uses: ["protocol", "protocol/schemas", "server/engine", "server/auth"],
  },
  {
    // Beside the faces: it calls others, and they do not call it.
    name: "server/webhooks",
    at: ["packages/server/src/webhooks/"],
    uses: ["protocol", "server/contract", "server/engine"],
  },
  {
    name: "server/ws",
    at: ["packages/server/src/ws/"],
    // Frames are decided as HTTP's bodies are; HTTP knows no socket.
    uses: ["protocol", "protocol/schemas", "server/engine", "server/auth", "server/http"],
  },
  {
    name: "server/faces",
    at: ["packages/server/src/faces/"],
    // Faces share HTTP's auth and problem responses; HTTP knows no face.
    uses: [
      "protocol",
      "protocol/ag-ui",
      "protocol/schemas",
      "server/engine",
      "server/auth",
      "server/http",
    ],
  },
  {
    // Agents that are called instead of calling: it claims their work and speaks their protocol.
    name: "server/upstream",
    at: ["packages/server/src/upstream/"],
    uses: ["protocol", "protocol/ag-ui", "server/contract", "server/engine"],
  },
  {
    // server.ts, config.ts, index.ts: they put the parts together.
    name: "server",
    at: ["packages/server/src/"],
    uses: ["protocol", "protocol/ag-ui", "protocol/schemas", "server/faces", ...server],
  },
  {
    name: "server/cli",
    at: ["packages/server/src/cli/"],
    uses: ["protocol", "protocol/ag-ui", "protocol/schemas", "server/faces", ...server],
  },

  { name: "apps", at: ["apps/"], uses: ["protocol", ...client] },
];

/** Says what in `source` breaks the table, one line each; empty when nothing does. */
export function violations(source: Source): string[] {
  const layer = layerOf(source.path);
  if (layer === undefined) return [`${source.path}: is in no layer`];
  return source.imports.flatMap((imported) => {
    const target = targetOf(source.path, imported.specifier);
    if (target === undefined) {
      const allowed = layer.external?.(imported) ?? true;
      const how = imported.typeOnly ? "import type" : "import";
      return allowed
        ? []
        : [`${source.path}: ${layer.name} must not ${how} "${imported.specifier}"`];
    }
    const to = layerOf(target);
    if (to === undefined) return [`${source.path}: "${imported.specifier}" leads to no layer`];
    return to === layer || layer.uses.includes(to.name)
      ? []
      : [`${source.path}: ${layer.name} must not import ${to.name} ("${imported.specifier}")`];
  });
}

function sdk(folder: string, uses: readonly string[]): Layer {
  return { name: `sdk/${folder}`, at: [`packages/sdk/src/${folder}/`], uses, external: notNode };
}

function layerOf(path: string): Layer | undefined {
  let best: { layer: Layer; length: number } | undefined;
  for (const layer of layers) {
    for (const prefix of layer.at) {
      if (path.startsWith(prefix) && prefix.length > (best?.length ?? 0)) {
        best = { layer, length: prefix.length };
      }
    }
  }
  return best?.layer;
}

/** The imported path within the repository, or undefined for a package of others. */
function targetOf(from: string, specifier: string): string | undefined {
  if (specifier.startsWith(".")) return posix.join(posix.dirname(from), specifier);
  for (const [name, folder] of workspaces) {
    if (specifier === name) return `${folder}index.ts`;
    if (specifier.startsWith(`${name}/`)) return `${folder}${specifier.slice(name.length + 1)}/`;
  }
  return undefined;
}

const workspaces = [
  ["@holdfast/protocol", "packages/protocol/src/"],
  ["@holdfast/sdk", "packages/sdk/src/"],
  ["holdfast", "packages/server/src/"],
] as const;
