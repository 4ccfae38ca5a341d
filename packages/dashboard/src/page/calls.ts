import type { RequestEvent } from './answers.js'

/** A call of a provider for a request. */
export interface ProviderCall {
  /** `provider/model`. */
  name: string
  /** Why it failed, such as `rate_limited`, and the status; undefined where it answered. */
  failure?: { kind: string; status?: string }
  /** Milliseconds from the beginning; undefined where they were not told. */
  start?: number
  end?: number
}

/** The calls of providers for a request in their order: those that failed, and the one that answered. */
export function callsOf({
  failed_calls = '',
  calls_ms = '',
  provider,
  model,
  status,
  duration_ms,
}: Pick<RequestEvent, 'failed_calls' | 'calls_ms' | 'provider' | 'model' | 'status' | 'duration_ms'>): ProviderCall[] {
  const times = calls_ms.split(', ').map((text) => text.split('-').map(Number))
  const timesOf = (i: number): Pick<ProviderCall, 'start' | 'end'> => {
    const [start, end = duration_ms] = times[i] ?? []
    return calls_ms === '' || start === undefined ? {} : { start, end }
  }
  const failed = failed_calls.split(', ').flatMap((text, i): ProviderCall[] => {
    // Names of models may have colons.
    const [, name, kind, code] = /^(.+): (\S+)(?: (\d+))?$/.exec(text) ?? []
    if (name === undefined || kind === undefined) return []
    return [{ name, failure: { kind, ...(code !== undefined && { status: code }) }, ...timesOf(i) }]
  })
  if (provider === undefined || model === undefined || status >= 400) return failed
  const own = failed.length === 0 ? { start: 0, end: duration_ms } : timesOf(failed.length)
  return [...failed, { name: `${provider}/${model}`, ...own }]
}
