/** What a provider is, as the list and its drawer show it. @module */
import { count, Status, time } from '@turnpike/ui'
import type { BalancerAnswer, MetricsAnswer, Provider, ProvidersAnswer, ProviderType } from './answers.js'
import { read } from './api.js'
import { kindName } from './failures.js'

/** A provider with what is known of its calls. */
export interface Row {
  key: string
  state: Provider
  limited: { model: string; until: string }[]
  metrics: MetricsAnswer['providers'][number] | undefined
}

/** Whether requests may be sent to it. */
export const isUsed = ({ status }: Provider): boolean => status !== 'disabled' && status !== 'broken'

/** What the paths of the API call it, and the page. Those of the configuration that share a name are told apart by their place. */
const keyOf = ({ entry, id }: Provider, i: number): string => entry ?? `${id} ${i}`

export async function readRows(hours: string, signal: AbortSignal): Promise<Row[]> {
  const [{ providers }, balancer, metrics] = await Promise.all([
    read<ProvidersAnswer>('providers', signal),
    read<BalancerAnswer>('balancer', signal),
    read<MetricsAnswer>(`metrics?hours=${hours}`, signal),
  ])
  // A provider with several keys is listed once for each, in the same order, and one that is left out here only.
  const used = balancer.providers.values()
  return providers.map((state, i) => ({
    key: keyOf(state, i),
    state,
    limited: isUsed(state) ? (used.next().value?.limited ?? []) : [],
    metrics: metrics.providers.find(({ id }) => id === state.id),
  }))
}

/** Where a provider is configured, in words. */
export const sources = {
  file: 'in the configuration file',
  environment: 'from variables',
  program: 'set in code',
  store: 'added here',
} as const

/** Where one that is not in the store is changed. */
export const places = {
  file: 'It is in the configuration file of the server. Change it there; the server reads the file again at the signal HUP.',
  environment: 'It is set by variables of the server, such as OPENAI_API_KEY. Change them there, and start it again.',
  program: 'The program that runs this gateway gives it. Change it there.',
} as const

/** The name of a kind of provider for people. */
export const kindOf = ({ type }: Provider, types: readonly ProviderType[]): string | undefined =>
  types.find((one) => one.type === type)?.name ?? type

/** Its part of the load, in words. */
export const loadOf = ({ weight, requests_per_minute: requests, tokens_per_minute: tokens }: Provider): string[] =>
  [
    weight !== undefined && `weight ${weight}`,
    requests !== undefined && `${count(requests)} requests a minute`,
    tokens !== undefined && `${count(tokens)} tokens a minute`,
  ].filter((part) => part !== false)

/** The state of a provider's circuit breaker in words. */
export function Health({ state, limited }: Row) {
  const { status, fault, breaker, failures, last_failure, next_try } = state
  if (!isUsed(state))
    return (
      <>
        <Status tone={status === 'broken' ? 'bad' : 'off'}>
          {status === 'broken' ? 'cannot be used' : 'disabled'}
        </Status>
        {fault !== undefined && <p class="small muted break">{fault}</p>}
      </>
    )
  return (
    <>
      {breaker === 'closed' ? (
        <Status tone={limited.length > 0 ? 'warn' : 'good'}>{limited.length > 0 ? 'rate limited' : 'healthy'}</Status>
      ) : breaker === 'open' ? (
        <Status tone="bad">unhealthy</Status>
      ) : (
        <Status tone="warn">being tried again</Status>
      )}
      {last_failure !== null && failures > 0 && (
        <p class="small muted">
          {count(failures)} × {kindName(last_failure)}
          {next_try !== null && `, next try ${time(next_try)}`}
        </p>
      )}
      {limited.map(({ model, until }) => (
        <p key={model} class="small muted break">
          {model} until {time(until)}
        </p>
      ))}
    </>
  )
}
