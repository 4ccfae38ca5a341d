/** What `promise` rejects with; an Error of its own where it does not. */
export async function rejection(promise: Promise<unknown>): Promise<unknown> {
  try {
    await promise
  } catch (error) {
    return error
  }
  return new Error('Nothing was thrown')
}
