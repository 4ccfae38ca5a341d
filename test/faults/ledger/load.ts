import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Budget, KV } from '@turnpike/core'
import { createSession, createUser, gatewayKeys, usageLedger } from '@turnpike/core'
import { expect } from 'vitest'
import type { Plan } from '../../support/planned-upstream.js'
import { runtime } from '../../support/runtime.js'
import type { Tags } from '../../support/tags.js'
import { storeTags } from '../../support/tags.js'
import type { Asked, Holder } from './journal.js'
import { MAX_TOKENS, send } from './journal.js'

/** Users with their keys, sessions, projects and budgets. */
export interface World {
  holders: Holder[]
  /** Ids by user. */
  sessions: Map<string, string[]>
  tags: Map<string, Tags>
  budgets: { of: 'key' | 'user'; id: string; usd: number }[]
}

/** Enough for a dozen requests, so that it is exhausted during the load. */
const TIGHT: Budget = { usd: 0.0005 }
const AMPLE: Budget = { usd: 1 }

/** Creates users with two keys, two sessions and a project each, and budgets if `withBudgets`. */
export async function populate(kv: KV, withBudgets: boolean): Promise<World> {
  const keys = gatewayKeys(kv)
  const world: World = { holders: [], sessions: new Map(), tags: new Map(), budgets: [] }
  const budget = (of: 'key' | 'user', id: string, given: Budget | undefined): void => {
    if (given) world.budgets.push({ of, id, usd: given.usd })
  }
  for (const [ofUser, ...ofKeys] of [[TIGHT], [undefined, TIGHT], [AMPLE, undefined, AMPLE], [], []]) {
    const own = withBudgets ? ofUser : undefined
    const { id: userId } = await createUser(kv, { ...(own && { budget: own }) })
    budget('user', userId, own)
    for (const i of [0, 1]) {
      const given = withBudgets ? ofKeys[i] : undefined
      const input = { name: `key ${i}`, rateLimit: 1e9, ...(given && { budget: given }) }
      const { id: keyId, key } = await keys.create(userId, input)
      budget('key', keyId, given)
      world.holders.push({ userId, keyId, key })
    }
    const made = [await createSession(kv, userId), await createSession(kv, userId)]
    world.sessions.set(
      userId,
      made.map(({ id }) => id),
    )
    world.tags.set(userId, await storeTags(kv, userId))
  }
  return world
}

/** The most that one request may cost, in billionths of a US dollar. */
const ONE = 100_000

/** Asserts that no budget is exceeded by more than one request. @returns the use of each, by the id of its key or user */
export async function checkBudgets(kv: KV, { budgets }: World): Promise<Map<string, { spent: number; held: number }>> {
  const uses = new Map<string, { spent: number; held: number }>()
  const ledger = usageLedger(kv)
  for (const { of, id, usd } of budgets) {
    const { spent, held } = await ledger.used({ of, id, budget: { usd } })
    expect(spent + held, `the budget of ${of} ${id}`).toBeLessThanOrEqual(usd * 1e9 + ONE)
    uses.set(id, { spent, held })
  }
  return uses
}

/** Interval between checks of the budgets, in milliseconds. */
const LOOK_MS = 10

/** Checks the budgets continuously. @returns a function that stops and resolves with the number of checks */
export function watchBudgets(kv: KV, world: World): () => Promise<number> {
  let watching = true
  const watch = async (): Promise<number> => {
    for (let looks = 0; ; looks++) {
      if (!watching) return looks
      await checkBudgets(kv, world)
      await sleep(LOOK_MS)
    }
  }
  const watched = watch()
  // A failure is reported when the watch is stopped.
  watched.catch(() => undefined)
  return () => {
    watching = false
    return watched
  }
}

/** Random requests of all kinds, and what their clients received. */
export interface Load {
  journal: Asked[]
  /** Number of requests whose clients received the whole response. */
  finished(): number
  /** Sets the server's URL; with undefined, clients wait for the next one. */
  serveAt(url: string | undefined): void
  /** Stops sending and waits for the requests in flight. */
  stop(): Promise<void>
}

const CLIENTS = 16

/** Starts the clients, which wait for `serveAt`. */
export function startLoad({ holders, sessions, tags }: World, random: () => number): Load {
  const journal: Asked[] = []
  const upTo = (n: number): number => Math.floor(random() * n)
  const oneOf = <T>(values: readonly T[]): T => values[upTo(values.length)]!

  let stopped = false
  let at: Promise<string>
  let arrive: (url: string) => void
  const leave = (): void => {
    at = new Promise((resolve) => (arrive = resolve))
  }
  leave()

  const plan = (stream: boolean): Plan => ({
    id: randomUUID(),
    // Fewer tokens than the estimate for the plan's text.
    prompt: 1 + upTo(20),
    completion: 1 + upTo(MAX_TOKENS),
    usage: random() < 0.7,
    pause: upTo(10),
    // Not on Bun, which may lose the data before a broken connection, so that there is no usage to record.
    ending: random() < 0.1 ? 'refused' : stream && runtime === 'node' && random() < 0.1 ? 'cut' : 'whole',
  })
  const next = (): Asked => {
    const holder = oneOf(holders)
    const own = sessions.get(holder.userId)!
    const session = oneOf(['', ...own, ...own, oneOf([...sessions.values()].flat()), randomUUID()])
    const theirs = tags.get(holder.userId)!
    const anybodys = oneOf([...tags.values()])
    const project = oneOf(['', '', theirs.project, anybodys.project, randomUUID()])
    const task = oneOf(['', theirs.task, anybodys.task, randomUUID()])
    const isOwn = task === theirs.task
    const inProject = project === theirs.project || (project === '' && isOwn)
    const counts = { project: inProject ? theirs.project : '', task: isOwn ? task : '' }
    const stream = random() < 0.5
    const inSession = own.includes(session)
    return { holder, session, inSession, project, task, counts, stream, plan: plan(stream), finished: false }
  }
  const client = async (): Promise<void> => {
    for (;;) {
      const url = await at
      if (stopped) return
      const asked = next()
      journal.push(asked)
      await send(url, asked, random() < 0.15 ? upTo(30) : undefined)
    }
  }
  const clients = Array.from({ length: CLIENTS }, client)

  return {
    journal,
    finished: () => journal.filter(({ finished }) => finished).length,
    serveAt(url) {
      if (url === undefined) leave()
      else arrive(url)
    },
    async stop() {
      stopped = true
      // Releases the clients that wait for a server.
      arrive('')
      await Promise.all(clients)
    },
  }
}
