import { fileURLToPath } from "node:url";
import react from "@vitejs/plugin-react";
import { build } from "vite";

/** Builds CopilotKit's page into a folder that git ignores. @returns that folder */
export async function buildPage(): Promise<string> {
  const outDir = fileURLToPath(new URL("dist/page/", import.meta.url));
  await build({
    configFile: false,
    root: fileURLToPath(new URL("page/", import.meta.url)),
    logLevel: "error",
    plugins: [react()],
    build: {
      outDir,
      emptyOutDir: true,
      target: "es2023",
      minify: false,
      reportCompressedSize: false,
      chunkSizeWarningLimit: 20_000,
    },
  });
  return outDir;
}
