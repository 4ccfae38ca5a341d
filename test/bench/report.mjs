/** From raw figures to tables and bars. */

const median = (values) => {
  const sorted = values.toSorted((a, b) => a - b)
  const middle = sorted.length >> 1
  return sorted.length % 2 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2
}

const number = (value) => (value >= 100 ? value.toFixed(0) : value.toPrecision(3))

/** `median [min..max]`, or what there is of it. */
const spread = (values) => {
  if (values.length === 0) return '-'
  const range = values.length > 1 ? ` [${number(Math.min(...values))}..${number(Math.max(...values))}]` : ''
  return number(median(values)) + range
}

/** One figure of every round in which `pick` finds it. */
const series = (rounds, pick) => rounds.map(pick).filter((value) => Number.isFinite(value))

/** Per-round ratios: both figures of a ratio come from the same minute. */
const ratios = (rounds, over, under) => series(rounds, (round) => over(round) / under(round))

const cpuOf = (server, scenario) => (round) => round[server]?.[scenario]?.cpu

function table(head, rows) {
  const widths = head.map((title, i) => Math.max(title.length, ...rows.map((row) => row[i].length)))
  const line = (cells) => cells.map((cell, i) => (i ? cell.padStart(widths[i]) : cell.padEnd(widths[i]))).join('  ')
  return [line(head), ...rows.map(line)].join('\n')
}

const titles = {
  chat1: 'Non-stream, 1 connection',
  chat16: 'Non-stream, 16 connections',
  chat64: 'Non-stream, 64 connections',
  burst: 'Streams of 64 chunks in one burst, 16 connections (per chunk)',
  paced: 'Streams paced at 5 ms, 100 at once (per chunk)',
  first: 'First token at low load: 8 streams, 20 ms per chunk',
}

/** A scenario's table: CPU with its ratios, throughput, how busy the server's core was, latency. */
function scenarioTable(rounds, serverNames, scenario) {
  const streams = rounds.some((round) => serverNames.some((server) => round[server][scenario]?.first))
  const direct = scenario === 'first' ? ['direct'] : []
  const rows = [...direct, ...serverNames].map((server) => {
    const figure = (pick) =>
      spread(series(rounds, (round) => round[server]?.[scenario] && pick(round[server][scenario])))
    const cpu = cpuOf(server, scenario)
    const portkey = server.endsWith('bun') ? 'portkey-bun' : 'portkey'
    const measured = server !== 'direct'
    return [
      server,
      measured ? figure((result) => result.cpu) : '-',
      measured ? spread(ratios(rounds, cpu, cpuOf('floor', scenario))) : '-',
      measured ? spread(ratios(rounds, cpuOf(portkey, scenario), cpu)) : '-',
      measured ? figure((result) => result.heap) : '-',
      figure((result) => result.perSecond),
      measured ? figure((result) => result.busy) : '-',
      figure(({ latency }) => latency.p50),
      figure(({ latency }) => latency.p99),
      ...(streams
        ? [
            figure(({ first }) => first.p50),
            figure(({ first }) => first.p99),
            figure(({ readsPerChunk }) => readsPerChunk),
          ]
        : []),
    ]
  })
  const head = ['', 'CPU µs', '× floor', 'Portkey ÷', 'heap kB', 'per s', 'busy', 'p50 ms', 'p99 ms']
  return table(streams ? [...head, 'first p50', 'first p99', 'reads/chunk'] : head, rows)
}

export const tables = (rounds, serverNames, scenarioNames) =>
  scenarioNames.map((name) => `${titles[name]}\n${scenarioTable(rounds, serverNames, name)}`).join('\n\n')

const cpuRatio = (server, scenario, than, least) => ({
  what: `${server} ${scenario}: CPU of ${than} ÷ ours at least ${least.toPrecision(2)}`,
  figures: (rounds) => ratios(rounds, cpuOf(than, scenario), cpuOf(server, scenario)),
  holds: (value) => value >= least,
})
const atMost = (what, most, pick) => ({
  what: `${what} at most ${most}`,
  figures: (rounds) => series(rounds, pick),
  holds: (value) => value <= most,
})

/** What `--check` holds the gateway to. */
const bars = [
  cpuRatio('server', 'chat64', 'portkey', 9),
  cpuRatio('hattip', 'chat64', 'portkey', 6),
  cpuRatio('bun', 'chat64', 'portkey-bun', 1.7),
  atMost('server chat64: kB of heap a request', 40, ({ server }) => server?.chat64?.heap),
  cpuRatio('server', 'paced', 'portkey', 2),
  cpuRatio('hattip', 'paced', 'portkey', 2),
  ...Object.entries({ claude: 2.76, gemini: 3.1 }).flatMap(([family, most]) => [
    // Every family is to cost what OpenAI's own form does.
    cpuRatio(family, 'paced', 'server', 1 / 1.3),
    cpuRatio(family, 'burst', 'floor', 1 / most),
  ]),
  ...['server', 'hattip', 'bun', 'claude', 'gemini'].map((server) =>
    atMost(
      `${server}: ms from the direct first token to ours`,
      2,
      (round) => round[server]?.first?.first.p50 - round.direct?.first?.first.p50,
    ),
  ),
]

/** The bars that were measured. @returns { text, ok } for each */
export const checkBars = (rounds) =>
  bars.flatMap(({ what, figures, holds }) => {
    const values = figures(rounds)
    if (values.length === 0) return []
    const ok = holds(median(values))
    return [{ ok, text: `${ok ? 'ok  ' : 'FAIL'}  ${what}: ${spread(values)}` }]
  })
