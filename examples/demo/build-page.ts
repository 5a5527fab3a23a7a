import { fileURLToPath } from "node:url";
import react from "@vitejs/plugin-react";
import { build, defaultClientConditions, type InlineConfig } from "vite";

/** Where the page's sources are. */
export const pageRoot = fileURLToPath(new URL("page/", import.meta.url));

/** How Vite reads the page: workspace packages from their sources, so that nothing else has to be built first. */
export const pageConfig: InlineConfig = {
  configFile: false,
  root: pageRoot,
  logLevel: "warn",
  cacheDir: fileURLToPath(new URL("dist/vite/", import.meta.url)),
  plugins: [react()],
  resolve: { conditions: ["@holdfast/source", ...defaultClientConditions] },
};

/** Builds the page into a folder that git ignores. @returns that folder */
export async function buildPage(): Promise<string> {
  const outDir = fileURLToPath(new URL("dist/page/", import.meta.url));
  await build({
    ...pageConfig,
    base: "/",
    build: {
      outDir,
      emptyOutDir: true,
      target: "es2023",
      reportCompressedSize: false,
      chunkSizeWarningLimit: 2_000,
    },
  });
  return outDir;
}
