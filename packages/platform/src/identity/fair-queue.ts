import { ApiError } from '@turnpike/core'
import { QUEUE_S } from '../conventions.js'
import { tooMany } from '../errors.js'
import { recentCounts } from './recent-counts.js'

/** Where attempts come from, such as a network or a known device. */
export interface Source {
  name: string
  /** Attempts that may be in the queue at a time. */
  places: number
  /** What its attempts of late count as at least, so that the first few count alike; default 0. */
  least?: number
}

interface Waiter {
  sources: Source[]
  /** Since when it waits, in milliseconds. */
  since: number
  start(): void
  refuse(error: ApiError): void
}

const full = () =>
  new ApiError(503, 'server_error', 'Too many people are signing in at the moment', {
    code: 'overloaded',
    retryAfter: 1,
  })
const crowded = () => tooMany('Too many people of your network are signing in at the moment', 1)

/**
 * Runs at most `running` tasks at a time; at most `waiting` more wait. Next comes the task whose sources have tried the least of late, in
 * proportion to their places; of several, who came last: whoever has waited for long behind a crowd has often gone. Where there is no place
 * left, a task takes that of another which has tried more or, in the whole queue, as much and waits for longer. Who has waited for 10 s is
 * refused.
 * @returns a function that runs a task of sources, the narrowest first, unless `check` throws: before it takes a place, or when its turn has
 * come. It throws ApiError 429 where a source has no place left, 503 where nobody has
 */
export function fairQueue(limits: { running: number; waiting: number }, now: () => number) {
  const recent = recentCounts(now)
  /** How many places each source has taken. */
  const taken = new Map<string, number>()
  const queue: Waiter[] = []
  let running = 0

  const take = (sources: Source[], add: 1 | -1): void => {
    for (const { name } of sources) {
      const count = (taken.get(name) ?? 0) + add
      if (count > 0) taken.set(name, count)
      else taken.delete(name)
    }
  }
  const loadOf = (sources: Source[]): number => {
    const load = sources.reduce((sum, { name, places }) => sum + recent.of(name) / places, 0)
    return Math.max(load, ...sources.map(({ least = 0 }) => least))
  }
  const remove = (waiter: Waiter): Waiter => queue.splice(queue.indexOf(waiter), 1)[0]!

  /** The last waiter with the lowest load, after those that have waited too long were refused. */
  const next = (): Waiter | undefined => {
    while (queue[0] && now() - queue[0].since >= QUEUE_S * 1_000) queue.shift()!.refuse(full())
    const loads = queue.map(({ sources }) => loadOf(sources))
    return queue[loads.lastIndexOf(Math.min(...loads))]
  }

  /** Refuses the first waiter with the highest load among some, if `gives` says so. @returns whether it did */
  const displace = (among: Waiter[], gives: (load: number) => boolean, error: ApiError): boolean => {
    const loads = among.map(({ sources }) => loadOf(sources))
    const highest = Math.max(...loads)
    if (loads.length === 0 || !gives(highest)) return false
    remove(among[loads.indexOf(highest)]!).refuse(error)
    return true
  }

  const admit = (sources: Source[]): void => {
    const own = loadOf(sources)
    const source = sources.find(({ name, places }) => (taken.get(name) ?? 0) >= places)
    if (source) {
      const neighbours = queue.filter((waiter) => waiter.sources.some(({ name }) => name === source.name))
      if (!displace(neighbours, (load) => load > own, crowded())) throw crowded()
    } else if (running >= limits.running && queue.length >= limits.waiting) {
      if (!displace(queue, (load) => load >= own, full())) throw full()
    }
  }

  return async <T>(sources: Source[], task: () => Promise<T>, check = async () => {}): Promise<T> => {
    // What is refused counts as well, so that whoever goes on trying comes last.
    for (const { name } of sources) recent.add(name)
    await check()
    admit(sources)
    take(sources, 1)
    try {
      // Whoever ends hands its place on, so that nobody who comes meanwhile takes it.
      if (running >= limits.running)
        await new Promise<void>((start, refuse) => queue.push({ sources, since: now(), start, refuse }))
      else running++
      try {
        await check()
        return await task()
      } finally {
        const waiter = next()
        if (waiter) remove(waiter).start()
        else running--
      }
    } finally {
      take(sources, -1)
    }
  }
}
