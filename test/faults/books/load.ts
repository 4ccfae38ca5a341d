import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Budget, KV } from '@turnpike/core'
import { createSession, createUser, gatewayKeys, usageLedger } from '@turnpike/core'
import { expect } from 'vitest'
import type { Plan } from '../../support/planned-upstream.js'
import { runtime } from '../../support/runtime.js'
import type { Asked, Holder } from './journal.js'
import { MAX_TOKENS, send } from './journal.js'

/** Who may call, and for which sessions. */
export interface World {
  holders: Holder[]
  /** Ids by user. */
  sessions: Map<string, string[]>
  budgets: { of: 'key' | 'user'; id: string; usd: number }[]
}

/** A dozen requests, so that it is used up while the load goes on. */
const TIGHT: Budget = { usd: 0.0005 }
const AMPLE: Budget = { usd: 1 }

/** Makes users with two keys and two sessions each; with budgets, where they are held. */
export async function populate(kv: KV, withBudgets: boolean): Promise<World> {
  const keys = gatewayKeys(kv)
  const world: World = { holders: [], sessions: new Map(), budgets: [] }
  const budget = (of: 'key' | 'user', id: string, given: Budget | undefined): void => {
    if (given) world.budgets.push({ of, id, usd: given.usd })
  }
  for (const [ofUser, ...ofKeys] of [[TIGHT], [undefined, TIGHT], [AMPLE, undefined, AMPLE], [], []]) {
    const own = withBudgets ? ofUser : undefined
    const { id: userId } = (await createUser(kv, { ...(own && { budget: own }) }))!
    budget('user', userId, own)
    for (const i of [0, 1]) {
      const given = withBudgets ? ofKeys[i] : undefined
      const input = { name: `key ${i}`, rateLimit: 1e9, ...(given && { budget: given }) }
      const { id: keyId, key } = (await keys.create(userId, input))!
      budget('key', keyId, given)
      world.holders.push({ userId, keyId, key })
    }
    const made = [await createSession(kv, userId), await createSession(kv, userId)]
    world.sessions.set(
      userId,
      made.map(({ id }) => id),
    )
  }
  return world
}

/** Makes sure that no budget is used for more than it is. @returns what each is used for, by the id of its key or user */
export async function checkBudgets(kv: KV, { budgets }: World): Promise<Map<string, { spent: number; held: number }>> {
  const uses = new Map<string, { spent: number; held: number }>()
  const ledger = usageLedger(kv)
  for (const { of, id, usd } of budgets) {
    const { spent, held } = await ledger.used({ of, id, budget: { usd } })
    expect(spent + held, `the budget of ${of} ${id}`).toBeLessThanOrEqual(usd * 1e9)
    uses.set(id, { spent, held })
  }
  return uses
}

/** How often budgets are looked at, in milliseconds. */
const LOOK_MS = 10

/** Checks the budgets all the time. @returns what ends that, and says how often it was */
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
  // Told at the end.
  watched.catch(() => undefined)
  return () => {
    watching = false
    return watched
  }
}

/** Requests of all kinds, at random, and what their clients saw. */
export interface Load {
  journal: Asked[]
  /** How many requests their clients saw finished. */
  finished(): number
  /** Where the server is from now on; the clients wait while it is nowhere. */
  serveAt(url: string | undefined): void
  /** Lets the requests that are under way end. */
  stop(): Promise<void>
}

const CLIENTS = 16

/** Begins to ask as soon as there is a server. */
export function startLoad({ holders, sessions }: World, random: () => number): Load {
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
    // Fewer than the plan itself is estimated at.
    prompt: 1 + upTo(20),
    completion: 1 + upTo(MAX_TOKENS),
    usage: random() < 0.7,
    pause: upTo(10),
    // Bun may lose what came just before the connection broke, so that there is nothing to book.
    ending: random() < 0.1 ? 'refused' : stream && runtime === 'node' && random() < 0.1 ? 'cut' : 'whole',
  })
  const next = (): Asked => {
    const holder = oneOf(holders)
    const own = sessions.get(holder.userId)!
    const session = oneOf(['', ...own, ...own, oneOf([...sessions.values()].flat()), randomUUID()])
    const stream = random() < 0.5
    return { holder, session, inSession: own.includes(session), stream, plan: plan(stream), finished: false }
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
      // For those that wait for a server.
      arrive('')
      await Promise.all(clients)
    },
  }
}
