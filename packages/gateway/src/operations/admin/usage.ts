import type { KV, UsageLedger, UsageTotals } from '@turnpike/core'
import { toUsd } from '@turnpike/core'
import { ID_LENGTH, invalid, namesOf, sumOf, totalsOf } from '@turnpike/core/internal'
import type { Named } from '@turnpike/core/internal'
import { Paging } from '@turnpike/http'
import * as v from 'valibot'
import { MAX_HOURS, SERIES_HOURS } from '../../conventions.js'
import { operation } from '../../operation.js'
import { byHour, Hours, startOf } from './hours.js'

/** Totals of usage. */
export const totals = {
  requests: v.number(),
  /** Requests whose price is not known. */
  unpriced: v.number(),
  prompt_tokens: v.number(),
  completion_tokens: v.number(),
  tokens: v.number(),
  /** US dollars, of requests whose price is known. */
  cost_usd: v.number(),
}

/** The public form of totals. */
export const viewOf = ({ cost_nano_usd, ...counts }: UsageTotals) => ({ ...counts, cost_usd: toUsd(cost_nano_usd) })

/** What has sums per hour. */
const ByHour = v.picklist(['user', 'key', 'model', 'provider'])
/** What usage is summed up by; sessions and projects have no sums per hour, and models no others. */
const By = v.picklist([...ByHour.options, 'session', 'project'])
type By = v.InferOutput<typeof By>

/** A time in the last of the hours, to compare with an earlier period; default now. */
const Until = v.optional(v.pipe(v.string(), v.isoTimestamp('Expected a time, such as 2030-01-31T08:00:00Z')))

const Query = v.object({ by: By, hours: Hours, until: Until, ...Paging.entries })

/** The names of what usage is summed up by: models and providers have none besides their ids. */
const namesBy = (kv: KV, by: By, ids: string[]): Promise<Named[]> | Named[] =>
  by === 'model' || by === 'provider' ? ids.map(() => ({ name: null, user_id: null })) : namesOf(kv, by, ids)

/** A page of usage by user, key, model, provider, session or project. */
export const UsageTable = v.object({
  by: By,
  /** Number of hours, the last of which is that of `until`; null = all time. */
  hours: v.nullable(v.number()),
  /** Start of the first hour; null = all time. */
  from: v.nullable(v.string()),
  /** In the order of ids. Those without usage in the period are left out, so that a page may be short or empty although there is a next one. */
  data: v.array(
    v.object({
      /** Of models: `provider/model`. */
      id: v.string(),
      /** Of users their e-mail or name; null where there is none. */
      name: v.nullable(v.string()),
      /** The owner of a key, session or project. */
      user_id: v.nullable(v.string()),
      ...totals,
    }),
  ),
  /** The `after` of the next page; absent on the last one. */
  next: v.optional(v.string()),
})
export type UsageTable = v.InferOutput<typeof UsageTable>

/** GET /admin/usage: from stored sums, so that its cost does not depend on the number of records. */
export function adminUsage(kv: KV, ledger: UsageLedger, now: () => number) {
  const read = async ({ by, hours, until, ...page }: v.InferOutput<typeof Query>) => {
    if (hours === undefined && until !== undefined) throw invalid('"until" is the end of "hours", which are absent')
    if (hours === undefined && by !== 'model')
      return { hours: null, from: null, ...(await ledger.listTotals(by, page)) }
    if (by === 'session' || by === 'project')
      throw invalid(`Usage by ${by} is summed up over all time only: leave out "hours"`)
    // Models have no sums over all time.
    const asked = hours ?? MAX_HOURS
    const to = until === undefined ? now() : Date.parse(until)
    const from = startOf(asked, to)
    return { hours: asked, from: from.toISOString(), ...(await ledger.listSince(by, from, page, new Date(to))) }
  }
  return operation({
    id: 'admin.usage',
    summary: 'Sums up usage by user, key, model, provider, session or project.',
    access: 'admin',
    query: Query,
    output: UsageTable,
    async run(_, { query }): Promise<UsageTable> {
      const { by } = query
      const { items, ...page } = await read(query)
      const names = await namesBy(
        kv,
        by,
        items.map(({ id }) => id),
      )
      return { by, ...page, data: items.map(({ id, totals }, i) => ({ id, ...names[i]!, ...viewOf(totals) })) }
    },
  })
}

/** The usage of one user, key, model or provider by hour, or of all providers. */
export const UsageSeries = v.object({
  by: ByHour,
  /** Null = all. */
  id: v.nullable(v.string()),
  name: v.nullable(v.string()),
  /** Number of hours; the last is that of `until`. */
  hours: v.number(),
  /** Start of the first hour. */
  from: v.string(),
  total: v.object(totals),
  /** One entry per hour, oldest first. */
  series: v.array(
    v.object({
      /** Start of the hour. */
      time: v.string(),
      requests: v.number(),
      tokens: v.number(),
      /** US dollars, of requests whose price is known. */
      cost_usd: v.number(),
    }),
  ),
})
export type UsageSeries = v.InferOutput<typeof UsageSeries>

/** GET /admin/usage/hours: zeros for what is not known, because models and providers are known by their usage only. */
export function adminUsageHours(kv: KV, ledger: UsageLedger, now: () => number) {
  /** Every request has a provider, and there are few. */
  const allHours = async (from: Date) => {
    const providers = await ledger.providers()
    return (await Promise.all(providers.map(({ id }) => ledger.hours('provider', id, from)))).flat()
  }
  return operation({
    id: 'admin.usage.hours',
    summary: 'Tells what a user, key, model or provider used in each hour, or without an id all of them.',
    access: 'admin',
    query: v.object({
      by: ByHour,
      id: v.optional(v.pipe(v.string(), v.minLength(1), v.maxLength(ID_LENGTH))),
      hours: Hours,
      until: Until,
    }),
    output: UsageSeries,
    async run(_, { query: { by, id, hours = SERIES_HOURS, until } }): Promise<UsageSeries> {
      const from = startOf(hours, until === undefined ? now() : Date.parse(until))
      const [found, names] = await Promise.all([
        id === undefined ? allHours(from) : ledger.hours(by, id, from),
        id === undefined ? [] : namesBy(kv, by, [id]),
      ])
      const series = byHour(from, hours, found)
      const totalOf = (counters: typeof found) => viewOf(totalsOf(sumOf(counters.map(({ fields }) => fields))))
      return {
        by,
        id: id ?? null,
        name: names[0]?.name ?? null,
        hours,
        from: from.toISOString(),
        total: totalOf(series.flatMap(({ rows }) => rows)),
        series: series.map(({ time, rows }) => {
          const { requests, tokens, cost_usd } = totalOf(rows)
          return { time, requests, tokens, cost_usd }
        }),
      }
    },
  })
}
