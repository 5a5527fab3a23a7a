/**
 * Aborted when this process should end: asked to by SIGTERM, or because the supervisor is gone. An interrupt from the
 * keyboard reaches the children too, and is left to the supervisor.
 */
export function whenToStop(): AbortSignal {
  const controller = new AbortController();
  const stop = () => controller.abort();
  process.on("SIGINT", () => {});
  process.on("SIGTERM", stop);
  process.on("disconnect", stop);
  controller.signal.addEventListener("abort", () => {
    // Whatever still hangs then must not stay behind.
    setTimeout(() => process.exit(1), 4_000).unref();
  });
  return controller.signal;
}
