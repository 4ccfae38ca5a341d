import type { UpstreamError, UpstreamFailure } from './errors.js'
import type { Price, PriceTable, Units } from './prices/price.js'
import type { Learnt, Provider, Signal } from './provider.js'
import type { Usage } from './schemas/chat.js'
import type { Model } from './schemas/models.js'

/** What holds for the calls of one provider, before what holds for all of them. */
export interface CallOptions {
  /** How often it is tried again where it is busy, after all others have been tried; default that of the group, else of the router. */
  retries?: number
  /**
   * Milliseconds until the first event of a stream; default the gateway's. Where it is set and passes, the next target is tried: what the upstream was
   * asked for may be billed, and is charged under a budget or credits.
   */
  firstEventMs?: number
  /** Milliseconds between two events of a stream; default the gateway's. */
  betweenEventsMs?: number
  /** Milliseconds until an answer that is not streamed; default the gateway's. As of `firstEventMs`, the next target is tried then. */
  wholeAnswerMs?: number
}

/** A provider and the model id to request from it. */
export interface Target {
  provider: Provider
  model: string
  /** What the model is asked for; absent = not known. */
  need?: Pick<Need, 'task' | 'size' | 'caller'>
  /** The current price; undefined if unknown. */
  price: Price | undefined
  /** Version of the price table. */
  catalogue: string
  /** The table that the price is from, for the prices of service tiers; absent = they are unknown. */
  prices?: PriceTable
  /** What a target of the group must have refused before this one is called, once: the length of the prompt, or its content. Absent = nothing. */
  fallback?: 'length' | 'content'
  /** Absent = what holds for all. */
  options?: CallOptions | undefined
  /** The most tokens of prompt and answer together (`context`), and of an answer; undefined where they are unknown, absent = all are. */
  limits?(): { context: number | undefined; maxOutput: number | undefined } | undefined
}

/** What is asked of a model: a method of {@link Provider}. */
export type CallKind = 'chat' | 'embeddings' | 'images' | 'speech' | 'transcription'

/** The requirements of a request. */
export interface Need {
  task: CallKind
  request: { model: string; provider?: string | null | undefined; prompt_cache_key?: unknown; user?: unknown }
  /**
   * Who asks: the account, and within it the end user, if it tells them apart. What fails for one of them alone is no reason to ask another provider
   * for all. Absent = not known.
   */
  caller?: readonly string[]
  /** The expected units on a target; used only to compare prices. */
  expected(target: Target): Units
  /** The tokens that a target is likely to use, of prompt and answers; used only where they are limited a minute. Default: those that are expected. */
  likely?(target: Target): number
  /** How many calls a target needs, each with the prompt; absent = one. */
  calls?(target: Target): number
  /** Tokens of the prompt and of one answer; used only when prices are compared. Default: not checked. */
  size?(): { prompt: number; output: number }
  /** Whether a target supports the request; used only when prices are compared. `listed` is its catalogue entry, where its capabilities are known. Default: yes. */
  fits?(target: Target, listed: Model | undefined): boolean
}

/** A candidate of a choice. */
export type Considered = {
  provider: string
  model: string
  /** Expected cost of the request; null if the price is unknown or was not compared. */
  expected_nano_usd: number | null
  /** Why it cannot serve the request; absent if it can. */
  excluded?: 'unfit' | 'context' | 'output' | 'forbidden'
  /** Why it rests, and is therefore behind others; absent if it does not. */
  behind?: 'unhealthy' | 'limited'
}

/** The targets chosen for a request. */
export interface Choice {
  /** Best first; never empty. Those with a `fallback` are last. */
  targets: Target[]
  /** All compared candidates, cheapest first; absent if price did not decide. */
  considered?: Considered[]
}

/** How a router would choose for a request. */
export interface Preview {
  /** The criterion: expected cost or order of configuration. */
  by: 'price' | 'order'
  /** In the order in which they are to be tried, followed by excluded ones. The cost is set only if price decides. */
  order: Considered[]
}

/** The health of a provider. */
export interface ProviderHealth {
  id: string
  /** `unhealthy` = it rests until `next_try`. */
  status: 'healthy' | 'unhealthy'
  /** Failures since the last success. */
  failures: number
  /** Kind of the last failure. */
  last_failure: UpstreamFailure['kind'] | null
  /** When one request may try it. */
  next_try: string | null
}

/** A configured provider and its current state. */
export interface ProviderState extends ProviderHealth {
  /** The tasks that it supports. */
  tasks: CallKind[]
  /** `open` = it rests; `half-open` = one request may try it or is doing so. */
  breaker: 'closed' | 'open' | 'half-open'
  /** Rate-limited models, which rest until the given time. */
  limited: { model: string; until: string }[]
  /** What it has learnt to leave out of requests; absent = nothing. */
  learnt?: Learnt[]
}

/** What came of asking a provider for its list of models; of several instances, of the first that failed. */
export interface Probe {
  /** Until the last instance had answered. */
  duration_ms: number
  /** The status of the answer; null if there was none, or an invalid one. */
  status: number | null
  /** Absent where all instances answered well. */
  error?: UpstreamError
}

/** A past choice among several candidates, with its result. */
export interface RecentChoice extends Preview {
  /** The id of the request; null if it was not given. */
  request_id: string | null
  time: string
  /** The requested model. */
  model: string
  /** The request's `provider` field; null if absent. */
  provider: string | null
  /** The target that accepted the request; null if none has (yet). */
  served: { provider: string; model: string } | null
  /** Number of calls made; one that was repeated without a refused parameter is one. */
  attempts: number
}

/** The state of a router in this process. */
export interface RouterState {
  /** In the order of configuration. */
  providers: ProviderState[]
  /** Model groups by name. */
  groups: Record<string, string[]>
  /** The last 100 choices among several candidates, newest first. */
  choices: RecentChoice[]
  /** The prices in force. */
  prices: PriceTable
}

/** Selects the providers for a request and tracks their health. */
export interface Router {
  /**
   * Selects the targets for a request.
   * @param requestId kept with a choice among several candidates, for {@link RecentChoice}; default none
   * @param session what the request belongs to: routers may send requests of a session to the same deployment; default none
   * @throws ApiError 400 for an unknown model or provider, and if no provider supports the request
   */
  candidates(need: Need, requestId?: string, session?: string): Choice | Promise<Choice>
  /**
   * Tells what {@link candidates} would choose now, also where no provider supports the request. Later choices do not depend on it.
   * @throws ApiError 400 for an unknown model or provider
   */
  preview(need: Need): Promise<Preview>
  /**
   * Runs a call with the first target, or of those that share calls the one whose turn it is by now. As long as a call certainly was not accepted, it runs with the next target or is retried.
   * After this resolves, the result of the call must be reported with `report`.
   * @throws the error of a call that may have been accepted; otherwise the first error; ApiError 429 where all deployments are at their limits, and
   *   none was called
   */
  attempt<T>(
    targets: Target[],
    signal: Signal,
    run: (target: Target) => Promise<T>,
  ): Promise<{ value: T; target: Target; attempts: number }>
  /**
   * Reports how an accepted call ended; without `error`, successfully.
   * @param usage what it used; absent where that is not known
   */
  report(target: Target, error?: unknown, usage?: Pick<Usage, 'prompt_tokens' | 'completion_tokens'>): void
  /** The models of all configured providers, or of one. */
  models(filter?: { provider?: string | undefined }): Promise<Model[]>
  /** The groups of models that have a member, as models; or those of them whose first member is of one provider. */
  groups(filter?: { provider?: string | undefined }): Promise<Model[]>
  /**
   * What the name of a group stands for, its fallbacks included, or an alias, with or without a provider's prefix: each model as an id or as
   * `provider/id`. Undefined for other names.
   */
  members(name: string): readonly string[] | undefined
  /** A group by its name, or a listed model by its id, with or without the provider prefix, including its `fidelity`. */
  model(id: string): Promise<Model | undefined>
  /**
   * The models for agents, in order of preference, as values of a request's `model`: at most two, of different providers unless they are
   * configured. Empty where no provider lists a suitable one.
   */
  agentModels(): Promise<string[]>
  /**
   * Asks each instance of a provider for its list of models, for at most ten seconds. After a success, a request may try it at once where
   * its circuit breaker is open; a failure counts as one of a request, unless it says nothing about the next request.
   * @returns undefined if there is no such provider
   * @throws ApiError 400 if it cannot be asked
   */
  probe(id: string): Promise<Probe | undefined>
  /** The health of the providers, in the order of configuration. */
  health(): ProviderHealth[]
  /** The state of the router, for operators. */
  state(): RouterState
}
