/** Requests of any kind to a server of the gateway and the platform, made from the documents that it serves. */
import { setTimeout as sleep } from 'node:timers/promises'
import * as fc from 'fast-check'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { World } from '../platform/world.js'
import { startWorld } from '../platform/world.js'
import type { ApiDocument, Contract } from '../support/contract.js'
import { contractOf } from '../support/contract.js'
import { wrong } from '../support/contract-checks.js'
import { refusal, streaming, textEvent } from '../support/faults.js'
import { runs, thorough } from '../support/scope.js'
import type { Plan } from './arbitrary-http.js'
import { requestsOf } from './arbitrary-http.js'
import type { Answer, Wire } from './http-client.js'
import { curl, endConnections, isMeant, problemsOf, send, wireOf } from './http-client.js'
import { often, record } from './http-junk.js'
import type { Operation, Surface } from './http-operations.js'
import { operationsOf } from './http-operations.js'
import { peopleOf } from './http-people.js'
import { parameters } from './parameters.js'

const surfaces: Surface[] = [
  {
    document: '/v1/openapi.json',
    prefix: '',
    error: { type: '', message: '', code: '' },
    credentials: { gatewayKey: 'key', administrator: 'token' },
  },
  {
    document: '/api/openapi.json',
    prefix: '',
    error: '',
    credentials: { accessToken: 'token', sessionCookie: 'cookie' },
  },
]

/** What the upstream does in place of its answer. */
const faults = {
  'an error': () => refusal(500, 'As planned'),
  'a rate limit': () => refusal(429, 'As planned', { headers: { 'retry-after': '0' } }),
  'a refusal': () => refusal(400, 'As planned'),
  'a refused key': () => refusal(401, 'As planned'),
  'a page': () => ({ status: 502, headers: { 'content-type': 'text/html' }, body: '<h1>Bad gateway</h1>' }),
  'no JSON': () => ({ status: 200, headers: { 'content-type': 'application/json' }, body: '{"id":' }),
  'JSON without fields': () => ({ status: 200, headers: { 'content-type': 'application/json' }, body: '[null]' }),
  'a cut stream': () => streaming(textEvent('cut'), 'data: {"id":'),
  'an empty stream': () => streaming(),
  'a silent stream': () => streaming(textEvent('silence'), new Promise<never>(() => undefined)),
}
type Fault = keyof typeof faults

/** Requests that are sent at a time. */
const BATCH = 8
/** Requests of each operation, on average. */
const PER_OPERATION = runs(5, 300)

let world: World
const start = async (): Promise<void> => {
  world = await startWorld('memory', { TRUSTED_HOPS: '1', RATE_LIMITER: 'memory' })
}
beforeAll(start)
afterAll(async () => {
  endConnections()
  await world.kill()
})

/** A signal of number 0 only asks whether there is such a process. */
const isAlive = (): boolean => {
  try {
    return process.kill(world.pid, 0)
  } catch {
    return false
  }
}

/** Whether the process has ended, or ends before it has done what is due now. */
const hasEnded = async (): Promise<boolean> => {
  await sleep(2)
  return (
    !isAlive() ||
    world.call('prototype').then(
      () => false,
      () => true,
    )
  )
}

/** The answers to the requests of each operation that are as documented, by status. */
const seen = new Map<string, Map<number, number>>()
const note = ({ operation: { id } }: Plan, status: number): void => {
  const statuses = seen.get(id) ?? new Map<number, number>()
  seen.set(id, statuses.set(status, (statuses.get(status) ?? 0) + 1))
}

it('any request gets an answer that its document describes', async () => {
  const operations: Operation[] = []
  const plans: fc.Arbitrary<Plan>[] = []
  const contracts = new Map<Surface, Contract>()
  const documents = await Promise.all(
    surfaces.map(async (surface) => (await world.ask<ApiDocument>('GET', surface.document)).body),
  )
  for (const [i, surface] of surfaces.entries()) operations.push(...operationsOf(surface, documents[i]!))
  const people = peopleOf(() => world, operations)
  for (const [i, surface] of surfaces.entries()) {
    const own = operations.filter((operation) => operation.surface === surface)
    contracts.set(surface, contractOf(documents[i]!))
    plans.push(...own.map((operation) => requestsOf([operation], documents[i]!, people.isKnown)))
  }

  const judge = async (plan: Plan, wire: Wire, fault: Fault | null): Promise<string[]> => {
    let answer: Answer | null
    try {
      answer = await send(world.url, wire, fault === null || !plan.operation.calls)
    } catch (error) {
      return [`no answer: ${String(error)}`]
    }
    if (!answer) return []
    const problems = problemsOf(plan, wire, answer, contracts.get(plan.operation.surface)!, fault !== null)
    if (problems.length > 0) return [...problems, `answered ${answer.status} ${answer.body.slice(0, 500)}`]
    if (isMeant(plan)) note(plan, answer.status)
    const isJson = answer.status === 200 && answer.headers['content-type']?.startsWith('application/json')
    people.answered(plan, answer.status, isJson && isMeant(plan) ? JSON.parse(answer.body) : undefined)
    return []
  }

  let sent = 0
  const batch = record({
    fault: often<Fault | null>(3, fc.constant(null), fc.constantFrom(...(Object.keys(faults) as Fault[]))),
    plans: fc.array(fc.option(fc.oneof(...plans), { freq: 1_000 }), { minLength: BATCH, maxLength: BATCH }),
  })
  await fc.assert(
    fc.asyncProperty(batch, async ({ fault, plans }) => {
      world.fault = undefined
      if (!isAlive()) {
        await world.kill()
        await start()
        people.forget()
      }
      await people.prepare()
      if (fault) world.fault = faults[fault]
      const all = plans.filter((plan) => plan !== null).map((plan): [Plan, Wire] => [plan, wireOf(plan, people)])
      sent += all.length
      const problems = await Promise.all(all.map(([plan, wire]) => judge(plan, wire, fault)))
      const gone = await hasEnded()
      if (problems.flat().length === 0 && !gone) return
      // They are in this report.
      wrong.splice(0)
      const lines = all.map(([, wire], i) => [curl(world.url, wire), ...problems[i]!].join('\n  # '))
      throw new Error(
        `${gone ? 'The process has ended.\n' : ''}${fault ? `The upstream has ${fault}.\n` : ''}${lines.join('\n')}`,
      )
    }),
    {
      seed: parameters.seed,
      numRuns: Math.ceil((PER_OPERATION * operations.length) / BATCH),
      // What a failure prints as `path`: with its seed, only the smallest requests that failed.
      ...(process.env['FUZZ_PATH'] && { path: process.env['FUZZ_PATH'] }),
    },
  )
  world.fault = undefined
  const table = [...seen].map(
    ([id, statuses]) => `${id}: ${[...statuses].map(([status, n]) => `${n} × ${status}`).join(', ')}`,
  )
  console.log(`${sent} requests of ${operations.length} operations`)
  if (thorough) console.log(table.toSorted().join('\n'))
  expect((await world.ask('GET', '/health')).status).toBe(200)
  expect(await world.call('verify')).toEqual([])
  // Fewer requests do not succeed in every operation.
  if (PER_OPERATION < 100) return
  const good = (statuses?: Map<number, number>): boolean =>
    [...(statuses ?? new Map<number, number>()).keys()].some((status) => status < 300)
  expect(operations.map(({ id }) => id).filter((id) => !good(seen.get(id)))).toEqual([])
}, 600_000)
