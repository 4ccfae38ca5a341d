/** Most items of a batch: the first ones wait for all that are made with them. */
const MOST = 64

interface Waiting<Item, Result> {
  item: Item
  resolve(result: Result): void
  reject(error: unknown): void
}

/** Does items of one key. Resolves with the outcomes of the first ones, of at least one; the others come first in the next batch. */
type Run<Item, Result> = (items: Item[]) => Promise<PromiseSettledResult<Result>[]>

/**
 * Queues items by key: those that come while one is done are done together after it. So n changes of one entry at a time take a few commits, and
 * not n, each after the one before. Where `run` rejects, so do the items of its batch, and the queue goes on.
 */
export function batches<Item, Result>(): (key: string, item: Item, run: Run<Item, Result>) => Promise<Result> {
  const queues = new Map<string, Waiting<Item, Result>[]>()
  const work = async (key: string, queue: Waiting<Item, Result>[], run: Run<Item, Result>): Promise<void> => {
    while (queue.length > 0) {
      const batch = queue.slice(0, MOST)
      const outcomes = await run(batch.map(({ item }) => item)).catch((reason: unknown) =>
        batch.map(() => ({ status: 'rejected' as const, reason })),
      )
      for (const [i, { resolve, reject }] of queue.splice(0, outcomes.length).entries()) {
        const outcome = outcomes[i]!
        if (outcome.status === 'fulfilled') resolve(outcome.value)
        else reject(outcome.reason)
      }
    }
    queues.delete(key)
  }
  return (key, item, run) =>
    new Promise((resolve, reject) => {
      const waiting = { item, resolve, reject }
      const queue = queues.get(key) ?? []
      queue.push(waiting)
      if (queues.has(key)) return
      queues.set(key, queue)
      void work(key, queue, run)
    })
}
