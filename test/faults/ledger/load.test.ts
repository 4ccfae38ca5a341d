import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import type { KV } from '@turnpike/core'
import { usageLedger } from '@turnpike/core'
import { afterAll, afterEach, describe, expect, it } from 'vitest'
import { endEngines, engines } from '../../support/engines.js'
import { needs, testAll } from '../../support/needs.js'
import { plannedUpstream } from '../../support/planned-upstream.js'
import { sample, thorough } from '../../support/scope.js'
import type { Server } from '../../support/server.js'
import { startServer } from '../../support/server.js'
import { killStores, startStore } from '../../support/store-process.js'
import { randomOf } from '../../support/random.js'
import { compare, costBy, recordsOf, verify, verifyTotals } from './audit.js'
import type { Asked } from './journal.js'
import type { Load } from './load.js'
import { checkBudgets, populate, startLoad, watchBudgets } from './load.js'

/** Number of kills under load; `LEDGER_RUNS` raises it. */
const KILLS = Math.max(thorough ? 3 : 2, Number(process.env['LEDGER_RUNS'] ?? 0))
/** Least completed requests between two kills, and the longest time that the load then continues, in milliseconds. */
const FINISHED = 20
const LOAD_MS = 300
/** Time for Redis or PostgreSQL to apply what a killed server has sent, in milliseconds. */
const SETTLE_MS = 100

const seed = Number(process.env['FUZZ_SEED'] ?? Date.now() % 1e9)
const random = randomOf(seed)

let load: Load
let server: Server | undefined
const kill = async ({ process }: Server): Promise<void> => {
  server = undefined
  const exit = once(process, 'exit')
  process.kill('SIGKILL')
  await exit
}

afterEach(async () => {
  if (server) await kill(server)
  await load.stop()
  await killStores()
})
afterAll(endEngines)

/** Opens a store that no server uses. */
async function withStore<T>(url: string, use: (kv: KV) => Promise<T>): Promise<T> {
  const kv = await startStore(url).opened
  const result = await use(kv)
  await kv.close()
  return result
}

describe.each(sample(engines.filter(({ name }) => !name.startsWith('driver:'))))(
  'the usage ledger on $name',
  (engine) => {
    const { name, needed, single, create } = engine

    const run = async (holds: boolean): Promise<void> => {
      const url = await create()
      // A store that several processes can open is also checked while the server runs.
      const beside = single ? undefined : await startStore(url).opened
      const between = <T>(use: (kv: KV) => Promise<T>): Promise<T> => (beside ? use(beside) : withStore(url, use))
      const world = await between((kv) => populate(kv, holds))
      const upstream = await plannedUpstream()
      load = startLoad(world, random)
      const { journal } = load
      /** Whether the upstream received the request and did not refuse it. */
      const isAccepted = ({ plan: { id, ending } }: Asked): boolean => upstream.begun.has(id) && ending !== 'refused'
      const serve = async (): Promise<Server> => {
        const begun = await startServer({
          STORAGE: url,
          HOLDS: String(holds),
          LOG: 'warn',
          OPENAI_API_KEY: 'sk-upstream',
          OPENAI_BASE_URL: upstream.url,
        })
        server = begun
        const before = load.finished()
        load.serveAt(begun.url)
        await expect.poll(load.finished).toBeGreaterThan(before + FINISHED)
        return begun
      }

      const endWatch = beside && holds ? watchBudgets(beside, world) : undefined
      let swept = 0
      for (let round = 0; round < KILLS; round++) {
        const victim = await serve()
        await sleep(random() * LOAD_MS)
        load.serveAt(undefined)
        await kill(victim)
        if (!holds) continue
        await sleep(SETTLE_MS)
        await between(async (kv) => {
          await verify(kv)
          await checkBudgets(kv, world)
          // Otherwise the server, which has the store alone, sweeps at its start.
          if (!single) swept += await usageLedger(kv).sweep(0)
        })
      }
      const last = await serve()
      await load.stop()
      expect(await last.stop()).toBe(0)
      server = undefined
      const looks = await endWatch?.()
      await beside?.close()
      await upstream.close()

      await withStore(url, async (kv) => {
        const records = await recordsOf(kv)
        const recorded = compare(journal, records)
        await verifyTotals(kv, records)
        await verify(kv)
        expect(new Set(journal.map(({ status }) => status))).toEqual(
          new Set([200, 400, undefined, ...(holds ? [403] : [])]),
        )
        if (holds) {
          expect(journal.filter((one) => !recorded.has(one) && isAccepted(one))).toEqual([])
          expect((await kv.list(['hold'])).items).toEqual([])
          const costs = new Map([
            ...costBy(records, ({ key_id }) => key_id),
            ...costBy(records, ({ user_id }) => user_id),
          ])
          for (const [id, use] of await checkBudgets(kv, world)) expect(use).toEqual({ held: 0, spent: costs.get(id) })
        }
        const unfinished = [...recorded.keys()].filter(({ finished }) => !finished).length
        const estimated = records.filter(({ outcome }) => outcome === 'server_shutdown').length
        const lost = journal.filter((one) => !recorded.has(one) && isAccepted(one)).length
        console.log(
          `${name}, holds ${holds}, seed ${seed}: ${KILLS} kills; ${journal.length} asked, ${load.finished()} finished, ${records.length} recorded, of them ` +
            `${unfinished} unfinished, ${estimated} as estimated, ${swept} swept; ${lost} sent without a record; ${looks ?? 0} looks at budgets`,
        )
      })
    }

    it(
      'has one record of every answer that clients completed, over kills under load',
      { ...needs(testAll, ...needed), timeout: 600_000 },
      () => run(false),
    )

    it(
      'has one record of every request that an upstream received, over kills under load, with holds',
      { ...needs(...needed), timeout: 600_000 },
      () => run(true),
    )
  },
)
