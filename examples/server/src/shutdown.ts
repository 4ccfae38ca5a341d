/** Runs `shutdown` on the first SIGTERM or SIGINT. The same signal a second time has its default effect: the process ends at once. */
export function onShutdown(shutdown: () => Promise<void>): void {
  let running: Promise<void> | undefined
  const begin = (): void => void (running ??= shutdown())
  process.once('SIGTERM', begin)
  process.once('SIGINT', begin)
}
