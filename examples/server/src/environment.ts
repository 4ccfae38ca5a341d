import { EMAIL, KEY_PREFIX } from '@turnpike/core'
import { BETWEEN_EVENTS_MS, FIRST_EVENT_MS, MAX_IN_FLIGHT, WHOLE_ANSWER_MS } from '@turnpike/gateway'
import * as v from 'valibot'

const integer = (name: string, min: number, max: number, preset: number) =>
  v.optional(
    v.pipe(
      v.string(),
      v.regex(/^\d+$/, `${name} must be a whole number`),
      v.transform(Number),
      v.minValue(min, `${name} must be at least ${min}`),
      v.maxValue(max, `${name} must be at most ${max}`),
    ),
    String(preset),
  )

const url = (name: string) =>
  v.optional(
    v.pipe(
      v.string(),
      v.check(
        (text) => URL.canParse(text) && /^https?:$/.test(new URL(text).protocol),
        `${name} must be a URL that begins with http:// or https://`,
      ),
      v.transform((text) => text.replace(/\/+$/, '')),
    ),
  )

/** An API key, which is sent unencoded in a header. */
const apiKey = (name: string) =>
  v.optional(v.pipe(v.string(), v.regex(/^[\x21-\x7e]+$/, `${name} must be ASCII characters without spaces`)))

const flag = (name: string) =>
  v.optional(
    v.pipe(
      v.picklist(['true', 'false'], `${name} must be true or false`),
      v.transform((text) => text === 'true'),
    ),
    'false',
  )

/** A limit of the plan; unset = the platform's default. */
const plan = (name: string, form: RegExp, what: string) =>
  v.optional(v.pipe(v.string(), v.regex(form, `${name} must be ${what}`), v.transform(Number)))

/** Groups of models: `fast=gpt-4o-mini,gemini-2.5-flash;smart=gpt-5`. */
const groups = v.optional(
  v.pipe(
    v.string(),
    v.transform((text) =>
      text.split(';').map((group): [name: string, models: string[]] => {
        const [name = '', ...models] = group.split(/[=,]/)
        // One `=`, after the name.
        return group.indexOf('=') === name.length && group.lastIndexOf('=') === name.length ? [name, models] : ['', []]
      }),
    ),
    v.check(
      (groups) => groups.every(([name, models]) => [name, ...models].every((word) => /^\S+$/.test(word))),
      'MODEL_GROUPS must be groups of models, such as fast=gpt-4o-mini,gemini-2.5-flash;smart=gpt-5',
    ),
    v.transform((groups) => Object.fromEntries(groups)),
  ),
)

/** Statuses of upstreams: `500,502,504,520`. */
const failoverStatuses = v.optional(
  v.pipe(
    v.string(),
    v.transform((text) => text.split(',').map(Number)),
    v.check(
      (statuses) => statuses.every((status) => Number.isInteger(status) && status >= 500 && status <= 599),
      'FAILOVER_STATUSES must be statuses from 500 to 599, separated by commas, such as 500,502,504,520',
    ),
  ),
)

/** Paths of fields: `min_p,messages.prefix`. */
const fieldPaths = v.optional(
  v.pipe(
    v.string(),
    v.transform((text) => text.split(',').map((path) => path.trim())),
    v.check(
      (paths) => paths.every((path) => path.split('.').every((name) => /^\S+$/.test(name))),
      'EXTRA_FIELDS must be names of fields, separated by commas, such as min_p,chat_template_kwargs',
    ),
  ),
)

/** Origins as browsers send them: `https://app.example,http://localhost:5173`. */
const origins = v.optional(
  v.pipe(
    v.string(),
    v.transform((text) => text.split(',').map((origin) => origin.trim())),
    v.check(
      (all) =>
        all.every(
          (text) =>
            URL.canParse(text) && /^https?:[^*]*$/.test(text) && new URL(text).href === `${new URL(text).origin}/`,
        ),
      'CORS_ORIGINS must be origins, separated by commas, such as https://app.example,http://localhost:5173',
    ),
    v.transform((all) => all.map((text) => new URL(text).origin)),
  ),
)

const logLevels = ['silent', 'error', 'warn', 'info', 'debug'] as const

/** One secret, or several of which the first is used and all are accepted. */
const secrets = (name: string) =>
  v.optional(
    v.pipe(
      v.string(),
      v.transform((text) => text.split(',').map((secret) => secret.trim())),
      v.check(
        (all) => all.every((secret) => secret.length >= 32),
        `${name} must have at least 32 characters; several are separated by commas`,
      ),
    ),
  )

/** The environment of the reference server; docs/server.md describes each variable. */
const Environment = v.object({
  PORT: integer('PORT', 0, 65_535, 8787),
  HOST: v.optional(v.string(), '127.0.0.1'),
  MAX_IN_FLIGHT: integer('MAX_IN_FLIGHT', 1, 1_000_000, MAX_IN_FLIGHT),
  BODY_MEMORY_MB: integer('BODY_MEMORY_MB', 1, 1_000_000, 512),
  MAX_LOOP_DELAY_MS: integer('MAX_LOOP_DELAY_MS', 0, 60_000, 0),
  WORKERS: integer('WORKERS', 1, 256, 1),
  BASE_URL: url('BASE_URL'),
  TRUSTED_HOPS: integer('TRUSTED_HOPS', 0, 100, 0),
  CORS_ORIGINS: origins,
  LOG: v.optional(v.picklist(logLevels, `LOG must be one of ${logLevels.join(', ')}`), 'info'),
  OPENAI_API_KEY: apiKey('OPENAI_API_KEY'),
  OPENAI_BASE_URL: url('OPENAI_BASE_URL'),
  OPENAI_THINK_TAGS: v.optional(
    v.pipe(
      v.picklist(['true', 'false', 'open'], 'OPENAI_THINK_TAGS must be true, false or open'),
      v.transform((text) => (text === 'open' ? text : text === 'true')),
    ),
    'false',
  ),
  ANTHROPIC_API_KEY: apiKey('ANTHROPIC_API_KEY'),
  ANTHROPIC_BASE_URL: url('ANTHROPIC_BASE_URL'),
  GEMINI_API_KEY: apiKey('GEMINI_API_KEY'),
  GEMINI_BASE_URL: url('GEMINI_BASE_URL'),
  AGENT_MODEL: v.optional(v.string()),
  AGENT_MODEL_ALTERNATIVE: v.optional(v.string()),
  MODEL_GROUPS: groups,
  FAILOVER_STATUSES: failoverStatuses,
  FETCH_IMAGES: flag('FETCH_IMAGES'),
  GEMINI_AUDIO: flag('GEMINI_AUDIO'),
  EXTRA_FIELDS: fieldPaths,
  HOLDS: flag('HOLDS'),
  END_USER_HEADER: v.optional(
    v.pipe(
      v.string(),
      v.regex(/^[\w!#$%&'*+.^`|~-]+$/, 'END_USER_HEADER must be the name of a header, such as X-OpenWebUI-User-Id'),
      v.toLowerCase(),
    ),
  ),
  FIRST_EVENT_MS: integer('FIRST_EVENT_MS', 1, 86_400_000, FIRST_EVENT_MS),
  BETWEEN_EVENTS_MS: integer('BETWEEN_EVENTS_MS', 1, 86_400_000, BETWEEN_EVENTS_MS),
  WHOLE_ANSWER_MS: integer('WHOLE_ANSWER_MS', 1, 86_400_000, WHOLE_ANSWER_MS),
  EARLY_PING_MS: integer('EARLY_PING_MS', 0, 86_400_000, 0),
  ON_CLIENT_ABORT: v.optional(v.picklist(['cancel', 'drain'], 'ON_CLIENT_ABORT must be cancel or drain')),
  PRICES: v.optional(v.string(), 'built-in'),
  STORAGE: v.optional(
    v.pipe(
      v.string(),
      v.regex(
        /^(memory|(fs|sqlite):.+|(rediss?|postgres|postgresql):\/\/.+|driver:[\w-]+(\?\{.*\})?)$/,
        'STORAGE must be memory, fs:FOLDER, sqlite:FILE, redis://…, postgres://… or driver:NAME?{json}',
      ),
    ),
    'fs:.turnpike',
  ),
  FILES: v.optional(
    v.pipe(
      v.string(),
      v.regex(
        /^(memory|fs:.+|(rediss?|s3):\/\/.+|driver:[\w-]+(\?\{.*\})?)$/,
        'FILES must be memory, fs:FOLDER, s3://BUCKET?endpoint=…&region=…, redis://… or driver:NAME?{json}',
      ),
    ),
  ),
  FILES_PUBLIC_URL: url('FILES_PUBLIC_URL'),
  FILES_DIRECT_URLS: flag('FILES_DIRECT_URLS'),
  FILE_LIMIT_MB: integer('FILE_LIMIT_MB', 1, 1_000_000, 1_000),
  FILE_URL_SECRETS: secrets('FILE_URL_SECRETS'),
  AWS_ACCESS_KEY_ID: apiKey('AWS_ACCESS_KEY_ID'),
  AWS_SECRET_ACCESS_KEY: apiKey('AWS_SECRET_ACCESS_KEY'),
  AWS_SESSION_TOKEN: apiKey('AWS_SESSION_TOKEN'),
  BOOTSTRAP_GATEWAY_KEY: v.optional(
    v.pipe(
      v.string(),
      v.regex(
        new RegExp(`^${KEY_PREFIX}\\S{16,}$`),
        `BOOTSTRAP_GATEWAY_KEY must be "${KEY_PREFIX}" and at least 16 characters without spaces`,
      ),
    ),
  ),
  BOOTSTRAP_GATEWAY_RATE_LIMIT: integer('BOOTSTRAP_GATEWAY_RATE_LIMIT', 1, 1_000_000_000, 6000),
  ADMIN_EMAIL: v.optional(v.pipe(v.string(), v.regex(EMAIL, 'ADMIN_EMAIL must be an e-mail address'))),
  ADMIN_PASSWORD: v.optional(v.pipe(v.string(), v.minLength(8, 'ADMIN_PASSWORD must have at least 8 characters'))),
  ADMIN_TOKEN: v.optional(
    v.pipe(v.string(), v.regex(/^\S{16,}$/, 'ADMIN_TOKEN must have at least 16 characters, without spaces')),
  ),
  BALANCE_POLICY: v.optional(
    v.picklist(['off', 'report', 'enforce'], 'BALANCE_POLICY must be off, report or enforce'),
    'report',
  ),
  PLAN_PROJECTS: plan('PLAN_PROJECTS', /^\d+$/, 'a whole number'),
  PLAN_AGENTS: plan('PLAN_AGENTS', /^\d+$/, 'a whole number'),
  PLAN_STORAGE_GB: plan('PLAN_STORAGE_GB', /^\d+(\.\d+)?$/, 'a decimal number'),
  PLAN_DATA_GB: plan('PLAN_DATA_GB', /^\d+(\.\d+)?$/, 'a decimal number'),
  PLAN_SESSIONS: plan('PLAN_SESSIONS', /^\d+$/, 'a whole number'),
  PLAN_TASKS: plan('PLAN_TASKS', /^\d+$/, 'a whole number'),
  SELF_ROLE: v.optional(v.picklist(['user', 'developer'], 'SELF_ROLE must be user or developer'), 'user'),
  DEVELOPER_KEYS: integer('DEVELOPER_KEYS', 0, 1_000_000, 20),
  DEVELOPER_KEY_RATE_LIMIT: integer('DEVELOPER_KEY_RATE_LIMIT', 1, 1_000_000, 600),
  USER_RATE_LIMIT: integer('USER_RATE_LIMIT', 1, 1_000_000_000, 60),
  API_RATE_LIMIT: integer('API_RATE_LIMIT', 1, 1_000_000_000, 1_200),
  API_ADDRESS_RATE_LIMIT: integer('API_ADDRESS_RATE_LIMIT', 1, 1_000_000_000, 6_000),
  PASSWORD_COST: integer('PASSWORD_COST', 8, 20, 15),
  SESSION_SECRET: secrets('SESSION_SECRET'),
})

export type Environment = v.InferOutput<typeof Environment>

/** Reads the environment; an empty variable counts as unset. @throws Error with one line per invalid variable */
export function readEnvironment(variables: Record<string, string | undefined>): Environment {
  const given = Object.fromEntries(Object.entries(variables).filter(([, value]) => value !== undefined && value !== ''))
  const result = v.safeParse(Environment, given)
  if (result.success) return result.output
  throw new Error(result.issues.map(({ message }) => message).join('\n'))
}
