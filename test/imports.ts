import { readdirSync, readFileSync } from "node:fs";
import { join, relative, sep } from "node:path";

/** One import, re-export or `import()` of a source file. */
export type Import = { readonly specifier: string; readonly typeOnly: boolean };

/** A source file: its path from the repository's root, with `/`, and what it imports. */
export type Source = { readonly path: string; readonly imports: readonly Import[] };

/** Reads all TypeScript files under `folder` (none if it does not exist), sorted by path. */
export function readSources(root: string, folder: string): Source[] {
  return listFiles(join(root, folder))
    .filter((file) => /\.tsx?$/.test(file))
    .map((file) => ({
      path: relative(root, file).split(sep).join("/"),
      imports: findImports(readFileSync(file, "utf8")),
    }))
    .toSorted((a, b) => (a.path < b.path ? -1 : 1));
}

/** Finds the imports in a module's text. `typeOnly` is true only where the whole statement is erased. */
export function findImports(text: string): Import[] {
  const code = text.replace(comments, "$1");
  const found: Import[] = [];
  for (const [, keyword, type, specifier] of code.matchAll(statements)) {
    if (keyword !== undefined && specifier !== undefined) {
      found.push({ specifier, typeOnly: type !== undefined });
    }
  }
  for (const [, specifier] of code.matchAll(expressions)) {
    if (specifier !== undefined) found.push({ specifier, typeOnly: false });
  }
  return found;
}

// A string is matched first and kept, so that a `//` inside it is not taken for a comment.
const comments =
  /("(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'|`(?:[^`\\]|\\.)*`)|\/\*[\s\S]*?\*\/|\/\/[^\n]*/g;

// The formatter keeps each statement's keyword at the start of a line.
const statements =
  /^(import|export)\b(\s+type\b(?!\s+from\b))?(?:[\w\s*{},$]*?\bfrom\b)?\s*["']([^"'\n]+)["']/gm;

const expressions = /\bimport\s*\(\s*["'`]([^"'`\n]+)["'`]/g;

function listFiles(folder: string): string[] {
  try {
    return readdirSync(folder, { withFileTypes: true, recursive: true })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name))
      .filter((file) => !file.split(sep).includes("node_modules"));
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return [];
    throw error;
  }
}
