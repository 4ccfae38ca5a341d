/** Requests of any kind to a server of the gateway and the platform, made from the documents that it serves. */
import * as fc from 'fast-check'
import { describe, expect, it, onTestFinished } from 'vitest'
import type { World } from '../platform/world.js'
import { stores } from '../platform/world.js'
import type { ApiDocument } from '../support/contract.js'
import { contractOf } from '../support/contract.js'
import { wrong } from '../support/contract-checks.js'
import { endEngines } from '../support/engines.js'
import { refusal, streaming, textEvent } from '../support/faults.js'
import { needs } from '../support/needs.js'
import { runs, sample, thorough } from '../support/scope.js'
import type { Plan } from './arbitrary-http.js'
import { requestsOf } from './arbitrary-http.js'
import type { Answer, Wire } from './http-client.js'
import { curl, endConnections, isMeant, problemsOf, send, wireOf } from './http-client.js'
import { often, record } from './http-junk.js'
import type { Surface } from './http-operations.js'
import { operationsOf } from './http-operations.js'
import { peopleOf } from './http-people.js'
import { lastingServer } from './http-server.js'
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
  // The gateway for browsers: a session in place of a gateway key.
  {
    document: '/v1/openapi.json',
    prefix: '/api/gateway',
    error: { type: '', message: '', code: '' },
    credentials: { gatewayKey: 'token' },
    has: ({ security }) => security.length === 1 && 'gatewayKey' in security[0]!,
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
/** Requests of each operation, on average; a sixth of them on stores that are slower than memory. */
const PER_OPERATION = runs(3, 100)

/** The answers to the requests of each operation that are as documented, by status. */
type Seen = Map<string, Map<number, number>>
const note = (seen: Seen, { operation: { id } }: Plan, status: number): void => {
  const statuses = seen.get(id) ?? new Map<number, number>()
  seen.set(id, statuses.set(status, (statuses.get(status) ?? 0) + 1))
}

/** The operations of the documents that a server serves, and requests of them. */
async function readDocuments(world: () => World) {
  const documents = await Promise.all(
    surfaces.map(async (surface) => (await world().ask<ApiDocument>('GET', surface.document)).body),
  )
  const own = surfaces.map((surface, i) => operationsOf(surface, documents[i]!))
  const operations = own.flat()
  const people = peopleOf(world, operations)
  return {
    operations,
    people,
    plans: own.flatMap((operations, i) => requestsOf(operations, documents[i]!, people.isKnown)),
    contracts: new Map(surfaces.map((surface, i) => [surface, contractOf(documents[i]!)])),
  }
}

/** Sends batches of requests, and checks the store at the end. */
async function fuzz(
  { world, hasEnded, revive }: Awaited<ReturnType<typeof lastingServer>>,
  perOperation: number,
): Promise<void> {
  const { operations, people, plans, contracts } = await readDocuments(world)
  const seen: Seen = new Map()
  let sent = 0

  /** Sends a request. @returns what is wrong with the answer */
  const judge = async (plan: Plan, wire: Wire, fault: Fault | null): Promise<string[]> => {
    let answer: Answer | null
    try {
      answer = await send(world().url, wire, fault === null || !plan.operation.calls)
    } catch (error) {
      return [`no answer: ${String(error)}`]
    }
    if (!answer) return []
    const problems = problemsOf(plan, wire, answer, contracts.get(plan.operation.surface)!, fault !== null)
    if (problems.length > 0) return [...problems, `answered ${answer.status} ${answer.body.slice(0, 500)}`]
    if (!isMeant(plan)) return []
    note(seen, plan, answer.status)
    const isJson = answer.status === 200 && answer.headers['content-type']?.startsWith('application/json')
    people.answered(plan, answer.status, isJson ? JSON.parse(answer.body) : undefined)
    return []
  }

  const batch = record({
    fault: often<Fault | null>(3, fc.constant(null), fc.constantFrom(...(Object.keys(faults) as Fault[]))),
    plans: fc.array(fc.option(fc.oneof(...plans), { freq: 1_000 }), { minLength: BATCH, maxLength: BATCH }),
  })
  await fc.assert(
    fc.asyncProperty(batch, async ({ fault, plans }) => {
      world().fault = undefined
      if (await revive()) people.forget()
      await people.prepare()
      if (fault) world().fault = faults[fault]
      const all = plans.filter((plan) => plan !== null).map((plan): [Plan, Wire] => [plan, wireOf(plan, people)])
      sent += all.length
      const problems = await Promise.all(all.map(([plan, wire]) => judge(plan, wire, fault)))
      const ended = await hasEnded()
      if (problems.flat().length === 0 && !ended) return
      // They are in this report.
      wrong.splice(0)
      const lines = all.map(([, wire], i) => [curl(world().url, wire), ...problems[i]!].join('\n  # '))
      if (fault) lines.unshift(`The upstream has ${fault}.`)
      if (ended) lines.unshift('The process has ended.')
      throw new Error(lines.join('\n'))
    }),
    {
      seed: parameters.seed,
      numRuns: Math.ceil((perOperation * operations.length) / BATCH),
      // What a failure prints as `path`: with its seed, only the smallest requests that failed.
      ...(process.env['FUZZ_PATH'] && { path: process.env['FUZZ_PATH'] }),
    },
  )
  world().fault = undefined
  console.log(`${sent} requests of ${operations.length} operations`)
  if (thorough)
    for (const [id, statuses] of [...seen].toSorted())
      console.log(`${id}: ${[...statuses].map(([status, times]) => `${times} × ${status}`).join(', ')}`)
  expect((await world().ask('GET', '/health')).status).toBe(200)
  // Calls that were abandoned may still be recorded.
  await expect.poll(() => world().call('verify')).toEqual([])
  // Fewer requests do not succeed in every operation.
  if (perOperation < 100) return
  const succeeds = (id: string): boolean => [...(seen.get(id)?.keys() ?? [])].some((status) => status < 300)
  // An item of an item, such as an end user of a key, is known to few: only a request that names both finds it. They have tests of their own.
  // There is no identity provider here.
  const isLikely = ({ path }: { path: string }): boolean => path.split('{').length <= 2 && !path.includes('{provider}')
  expect(operations.filter((one) => isLikely(one) && !succeeds(one.id)).map(({ id }) => id)).toEqual([])
}

describe.each([...sample(stores)])('on $name', ({ name, needed, create }) => {
  it(
    'any request gets an answer that its document describes',
    { ...needs(...needed), timeout: 1_200_000 },
    async () => {
      const server = await lastingServer(create)
      onTestFinished(async () => {
        endConnections()
        await server.world().kill()
        await endEngines()
      })
      await fuzz(server, name === 'memory' ? PER_OPERATION : Math.ceil(PER_OPERATION / 10))
    },
  )
})
