/** The loads, and what is measured under each. */
import { setTimeout as delay } from 'node:timers/promises'
import { chatBytes, connect } from './client.mjs'
import { bodyCheck, chatRequest } from './payload.mjs'

/**
 * Each of `connections` sends one request after another for `ms`, or `times` each; `stream` = { chunks, ms between them }; `sleeps` = it may sleep meanwhile, where others need its core; `spread` = milliseconds over
 * which they begin, so that streams do not tick in step.
 */
export const scenarios = {
  chat1: { connections: 1, ms: 2_500 },
  chat16: { connections: 16, ms: 2_500 },
  chat64: { connections: 64, ms: 3_500 },
  burst: { connections: 16, ms: 2_500, stream: { chunks: 64, ms: 0 } },
  paced: { connections: 100, times: 3, spread: 200, stream: { chunks: 512, ms: 5 } },
  first: { connections: 8, times: 12, spread: 40, stream: { chunks: 8, ms: 20 } },
}

/** The same, shorter. */
export const quick = ({ ms, times, stream, ...rest }) => ({
  ...rest,
  ...(ms && { ms: ms / 2.5 }),
  ...(times && { times: Math.ceil(times / 2) }),
  ...(stream && { stream: { ...stream, chunks: Math.min(stream.chunks, 200) } }),
})

const MAX_REASONS = 5

/** Counts requests and failures to one server; every answer passes through `accept`. */
export function tally() {
  const failures = []
  return {
    sent: 0,
    failed: 0,
    /** The first few failures in words. */
    failures,
    fail(reason) {
      this.failed++
      if (failures.length < MAX_REASONS) failures.push(reason)
    },
  }
}

/** Opens connections to a target and runs loads over them. */
async function openSession(target, { connections, spread = 0 }, count) {
  const open = Array.from({ length: connections }, () => connect(target.port))
  await Promise.all(open.map(({ ready }) => ready))

  const one = async (connection, bytes, check) => {
    count.sent++
    try {
      const answer = await connection.send(bytes)
      if (answer.status !== 200) count.fail(`status ${answer.status}: ${answer.body.slice(0, 200)}`)
      else if (check(answer.body)) return answer
      else count.fail(`another body than the upstream's: ${answer.body.slice(0, 200)} … ${answer.body.slice(-200)}`)
    } catch (error) {
      count.fail(error.message)
    }
    return undefined
  }

  return {
    /** Runs until each connection sent `times`, or `ms` are over. @returns the answers that are right */
    async run({ stream, times = Infinity, ms = Infinity }) {
      const bytes = chatBytes(target, chatRequest(stream, target.model))
      const check = bodyCheck(stream)
      const answers = []
      const until = performance.now() + ms
      const work = async (connection, position) => {
        if (spread > 0) await delay((spread * position) / connections)
        for (let i = 0; i < times && performance.now() < until; i++) {
          const answer = await one(connection, bytes, check)
          // A server that fails keeps failing; the run is lost anyway.
          if (!answer) return
          answers.push(answer)
        }
      }
      await Promise.all(open.map(work))
      return answers
    },
    close: () => open.forEach((connection) => connection.close()),
  }
}

const quantile = (sorted, q) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * q))]

/** p50 and p99 of one field of the answers, in milliseconds. */
function quantiles(answers, field) {
  const sorted = Float64Array.from(answers, (answer) => answer[field]).toSorted()
  return { p50: quantile(sorted, 0.5), p99: quantile(sorted, 0.99) }
}

/**
 * Keeps this process from sleeping. The kernel charges a writer for waking a reader that sleeps on another core (several µs in a virtual
 * machine), which would charge a server for how idle its clients happen to be.
 * @returns what lets it sleep again
 */
function stayAwake() {
  let awake = true
  const turn = () => awake && setImmediate(turn)
  turn()
  return () => (awake = false)
}

/**
 * Runs one scenario against a target.
 * @param hooks.cpu, hooks.heap CPU seconds that the server's process has used so far, and bytes that it has allocated; absent where there is no
 * server to measure
 * @param hooks.begin, hooks.end around the measured part
 */
export async function measure(target, scenario, count, { cpu = () => 0, heap = () => NaN, begin, end } = {}) {
  const { stream, ms = Infinity, times, connections, sleeps = false } = scenario
  const session = await openSession(target, scenario, count)
  const letSleep = sleeps ? () => {} : stayAwake()
  // Opens the gateway's own connections to the upstream, so that none of that is measured.
  await session.run(
    times ? { times: 1, stream: { ...stream, chunks: Math.min(stream.chunks, 64) } } : { stream, ms: ms / 8 },
  )
  await begin?.()
  const heapBefore = await heap()
  const cpuBefore = cpu()
  const startedAt = performance.now()
  const answers = await session.run({ stream, ms, times })
  const seconds = (performance.now() - startedAt) / 1000
  const used = cpu() - cpuBefore
  const allocated = (await heap()) - heapBefore
  await end?.()
  session.close()
  letSleep()
  if (answers.length === 0) throw new Error('no request succeeded')
  const chunks = stream?.chunks
  const units = answers.length * (chunks ?? 1)
  return {
    connections,
    requests: answers.length,
    seconds,
    busy: used / seconds,
    cpu: (used * 1e6) / units,
    heap: allocated / 1000 / units,
    perSecond: units / seconds,
    latency: quantiles(answers, 'ms'),
    ...(chunks && {
      first: quantiles(answers, 'firstMs'),
      // Below 1 where chunks were merged on the way, as they are when a gateway is late.
      readsPerChunk: answers.reduce((sum, { reads }) => sum + reads, 0) / units,
    }),
  }
}
