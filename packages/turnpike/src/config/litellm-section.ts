/** Reading of LiteLLM's configuration. @module */
import type { Tree } from './tree.js'
import { isTree } from './tree.js'

/** Something of LiteLLM's configuration that is not carried over, or not as it was. */
export interface Note {
  /** Where it stands, such as `model_list[0].litellm_params.timeout`. */
  path: string
  reason: string
}

/** Why settings are not carried over, by their names; of others it is said that they have no counterpart. */
const reasons: Record<string, string> = {
  alerting: 'an alarm on the Prometheus metrics takes its place',
  allowed_fails_policy: 'the failures that count are fixed',
  aws_profile_name: 'credentials is a function for it, in a file of code',
  aws_role_name: 'credentials is a function for it, in a file of code',
  aws_web_identity_token: 'credentials is a function for it, in a file of code',
  azure_ad_token_provider: 'token is a function for it, in a file of code',
  budget_duration: 'budgets are of keys and users',
  cache: 'a guard can do it, in a file of code',
  cache_params: 'a guard can do it, in a file of code',
  callbacks: 'Prometheus metrics are built in; gateway.onRequest is for others, in a file of code',
  client_secret: 'token is a function for it, in a file of code',
  context_window_fallback_dict: 'context_window_fallbacks is read',
  custom_auth: 'platform.identity is for it, in a file of code',
  disable_cooldowns: 'failing providers always rest',
  drop_params: 'parameters that a provider does not have are always dropped, and named in x-gateway-warnings',
  enable_pre_call_checks: 'requests with "provider": "auto" leave out models with too small a context',
  failure_callback: 'gateway.onRequest is for it, in a file of code',
  files_settings: 'files are those of the platform; vendors are not asked',
  finetune_settings: 'there is no fine-tuning',
  global_max_parallel_requests: 'gateway.maxInFlight must be a whole number',
  guardrails: 'gateway.guards is for it, in a file of code',
  include: 'convert each file that it names',
  max_budget: 'budgets are of keys and users',
  max_parallel_requests: 'a deployment has limits of requests and tokens a minute',
  max_retries: 'num_retries is read',
  mcp_servers: 'there is no MCP',
  organization: 'it is read for OpenAI alone',
  pass_through_endpoints: 'there is no proxy for paths of providers',
  region_name: 'a provider has the region of its address',
  retry_policy: 'the failures that are retried are fixed',
  store_model_in_db: 'POST /admin/providers adds providers while the server runs, always',
  success_callback: 'gateway.onRequest is for it, in a file of code',
  tags: 'requests are not routed by tags',
  tenant_id: 'token is a function for it, in a file of code',
}
/** Parameters of requests, of which a deployment can have defaults there. */
const ofRequests =
  /^(temperature|top_p|top_k|max_tokens|max_completion_tokens|n|stop|seed|presence_penalty|frequency_penalty|reasoning_effort|thinking|tools|tool_choice|response_format|user)$/
/** Settings that LiteLLM reports about a model. */
const ofCatalogue = /^(supports_.*|max_input_tokens|max_output_tokens)$/

function reasonOf(name: string): string {
  if (ofRequests.test(name)) return 'requests bring it themselves'
  if (ofCatalogue.test(name)) return 'it is known by the catalogue, or the provider'
  return Object.hasOwn(reasons, name) ? reasons[name]! : 'it has no counterpart'
}

/** A value as a list. */
export const listOf = (value: unknown): unknown[] => (Array.isArray(value) ? value : value === undefined ? [] : [value])

const ENVIRONMENT = /^\s*os\.environ\/(\w+)\s*$/

/** The file that is converted: what its values refer to, and what is noted of it. */
export class Litellm {
  readonly notes: Note[] = []
  /** Variables that the file itself sets, and those of them that its values name. */
  readonly #own: Tree
  readonly #named = new Set<string>()

  constructor(environment: unknown) {
    this.#own = isTree(environment) ? environment : {}
  }

  note(path: string, reason: string): void {
    this.notes.push({ path, reason })
  }

  /** The reference to a variable, with the value that the file gives it. */
  variable(name: string, preset?: string): string {
    this.#named.add(name)
    const own = this.#own[name]
    const value = own === undefined || own === null ? preset : String(own as string)
    if (value === undefined) return `\${${name}}`
    return value.includes('}') ? this.text(value) : `\${${name}:-${value}}`
  }

  /** A text as a file of ours has it: `os.environ/NAME` is `${NAME}`. */
  text(value: string): string {
    const [, name] = ENVIRONMENT.exec(value) ?? []
    return name === undefined ? value.replace(/\$(?=\{\w+(:-[^}]*)?\})/g, '$$$$') : this.variable(name)
  }

  /** Variables that no value names. */
  unnamed(): string[] {
    return Object.keys(this.#own).filter((name) => !this.#named.has(name))
  }

  section(path: string, given: unknown): Section {
    if (given !== undefined && given !== null && !isTree(given)) this.note(path, 'it is no section of settings')
    return new Section(this, path, isTree(given) ? given : {})
  }
}

/** A section of LiteLLM's file. What nobody takes from it is noted. */
export class Section {
  readonly path: string
  readonly #file: Litellm
  readonly #left: Map<string, unknown>

  constructor(file: Litellm, path: string, given: Tree) {
    this.path = path
    this.#file = file
    // What stands there without a value is not set.
    this.#left = new Map(Object.entries(given).filter(([, value]) => value !== null && value !== undefined))
  }

  at(name: string): string {
    return this.path ? `${this.path}.${name}` : name
  }

  note(name: string, reason: string): void {
    this.#file.note(this.at(name), reason)
  }

  has(name: string): boolean {
    return this.#left.has(name)
  }

  take(name: string): unknown {
    const value = this.#left.get(name)
    this.#left.delete(name)
    return value
  }

  /** What nobody has taken yet. */
  names(): string[] {
    return [...this.#left.keys()]
  }

  is(name: string, value: boolean): boolean {
    return this.#left.get(name) === value
  }

  /** Takes all that is left. */
  all(): [name: string, value: unknown][] {
    const left = [...this.#left]
    this.#left.clear()
    return left
  }

  section(name: string): Section {
    return this.#file.section(this.at(name), this.take(name))
  }

  /** A text, of which an empty one is not set. */
  text(name: string): string | undefined {
    const value = this.take(name)
    if (typeof value === 'object') this.note(name, 'it must be a text')
    if (value === undefined || value === '' || typeof value === 'object') return undefined
    return this.#file.text(String(value as string | number | boolean))
  }

  /** A number, as it is written or by a variable; another value is noted. */
  number(name: string, accepts: (value: number) => boolean, expected: string): number | string | undefined {
    const value = this.take(name)
    if (value === undefined) return undefined
    if (typeof value === 'string' && ENVIRONMENT.test(value)) return this.#file.text(value)
    const number = typeof value === 'string' ? Number(value || Number.NaN) : value
    if (typeof number === 'number' && Number.isFinite(number) && accepts(number)) return number
    this.note(name, `it must be ${expected}`)
    return undefined
  }

  whole(name: string, min: number, max = Number.MAX_SAFE_INTEGER): number | string | undefined {
    const accepts = (value: number): boolean => Number.isInteger(value) && value >= min && value <= max
    return this.number(name, accepts, `a whole number of at least ${min}`)
  }

  /** Milliseconds of a time in seconds. */
  milliseconds(name: string): number | undefined {
    const seconds = this.number(name, (value) => value > 0 && value <= 86_400, 'seconds, at most a day')
    if (typeof seconds === 'string') this.note(name, 'it is in seconds, and must be written as a number')
    return typeof seconds === 'number' ? Math.ceil(seconds * 1_000) : undefined
  }

  /** Notes what is left. */
  end(): void {
    for (const name of this.#left.keys()) this.note(name, reasonOf(name))
  }
}
