/** Called once in each runtime of Next when the server starts. */
export async function register(): Promise<void> {
  if (process.env.NEXT_RUNTIME !== 'nodejs') return
  const { turnpike } = await import('@/turnpike')
  await turnpike()
}
