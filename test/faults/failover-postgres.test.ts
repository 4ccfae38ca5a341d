import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, describe, expect, it } from 'vitest'
import { needs, programs, testAll } from '../support/needs.js'
import type { Postgres } from '../support/postgres.js'
import { startPostgres } from '../support/postgres.js'
import { runtime } from '../support/runtime.js'
import type { Load } from './failover.js'
import { startLoad } from './failover.js'

const cleanUp: { stop(): Promise<unknown> }[] = []
afterEach(async () => {
  for (const each of cleanUp.splice(0).toReversed()) await each.stop()
})

/** Kills the primary while its standby lags behind: it is cut off, and commits continue if they need no standby. */
async function killPrimary(primary: Postgres, standby: Postgres, load: Load): Promise<void> {
  standby.signal('SIGSTOP')
  await primary.ask('select pg_terminate_backend(pid) from pg_stat_replication')
  const before = load.count()
  for (let i = 0; i < 50 && load.count() < before + 50; i++) await sleep(20)
  await primary.crash()
  standby.signal('SIGCONT')
}

describe(`PostgreSQL with a synchronous standby, on ${runtime}`, needs(testAll, programs.postgres), () => {
  it('loses nothing when the standby is promoted', { timeout: 90_000 }, async () => {
    const primary = await startPostgres({ synchronous_standby_names: '*' })
    cleanUp.push(primary)
    const standby = await startPostgres({}, primary)
    cleanUp.push(standby)
    const hosts = [primary, standby].map(({ url }) => new URL(url).host)
    const load = await startLoad(`postgres://postgres@${hosts.join()}/postgres`)
    cleanUp.push(load)
    await load.answers(200)
    await killPrimary(primary, standby, load)
    await standby.ask('select pg_promote()')
    await load.answers(200)
    const books = await load.finish()
    console.log(`PostgreSQL: ${books.text}`)
    expect(books).toMatchObject({ lost: 0, double: 0, hung: 0 })
  })
})
