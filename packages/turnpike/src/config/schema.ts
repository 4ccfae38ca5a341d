import type { KV, RateLimiter } from '@turnpike/core'
import { EMAIL, KEY_PREFIX } from '@turnpike/core'
import type { GatewayOptions } from '@turnpike/gateway'
import type { FilesOptions, PlatformOptions } from '@turnpike/platform'
import type { Transport } from '@turnpike/providers'
import * as v from 'valibot'
import { ProviderEntry } from './providers.js'
import { code, decimal, flag, integer, list, matching, oneOf, secrets, section, text, url } from './values.js'

const MAX_MS = 86_400_000
const milliseconds = () => v.exactOptional(integer(1, MAX_MS))
const names = () => v.exactOptional(list('names without spaces'))
const origins = () =>
  list('origins, such as https://app.example', (origin) =>
    URL.canParse(origin) ? new URL(origin).origin === origin : false,
  )

const Server = section({
  /** The port; 0 takes a free one. */
  port: v.exactOptional(integer(0, 65_535), 8787),
  /** The address to listen on; `0.0.0.0` for all. */
  host: v.exactOptional(text(), '127.0.0.1'),
  /** Processes that serve one port and one store. */
  workers: v.exactOptional(integer(1, 256), 1),
  /** Whether a change of the file is taken without a signal. */
  watch: v.exactOptional(flag(), false),
  /** What is logged. */
  log: v.exactOptional(oneOf(['silent', 'error', 'warn', 'info', 'debug']), 'info'),
  /** The address that users see; default from host and port. */
  baseUrl: v.exactOptional(url()),
  /** Reverse proxies whose `X-Forwarded-For` and `X-Forwarded-Proto` are trusted. */
  trustedHops: v.exactOptional(integer(0, 100), 0),
  /** Megabytes of bodies that a process holds for `/v1`, and as many for `/api`. */
  bodyMemoryMB: v.exactOptional(integer(1, 1_000_000), 512),
})

const STORE = /^(memory|(fs|sqlite):.+|(rediss?|postgres|postgresql):\/\/.+|driver:[\w-]+(\?\{.*\})?)$/s
const FILES = /^(memory|fs:.+|(rediss?|s3):\/\/.+|driver:[\w-]+(\?\{.*\})?)$/s

/** A store that a program has opened: it closes it itself. */
export interface OpenStore {
  kv: KV
  /** Counts across all processes that share the store; default: in this process. */
  rateLimiter?: RateLimiter
}
const isOpenStore = (value: unknown): value is OpenStore =>
  typeof value === 'object' && value !== null && typeof (value as Partial<OpenStore>).kv === 'object'
const StoreText = matching(STORE, 'memory, fs:FOLDER, sqlite:FILE, redis://…, postgres://… or driver:NAME?{json}')
const StoreObject = v.custom<OpenStore>(isOpenStore)

const Files = section({
  /** Where their bytes are; default beside the store where that is a folder. */
  store: v.exactOptional(
    matching(FILES, 'memory, fs:FOLDER, s3://BUCKET?endpoint=…&region=…, redis://… or driver:NAME?{json}'),
  ),
  /** Credentials of the bucket of s3://. */
  accessKeyId: v.exactOptional(text()),
  secretAccessKey: v.exactOptional(text()),
  sessionToken: v.exactOptional(text()),
  /** What URLs of public files begin with, such as those of a CDN. */
  publicUrl: v.exactOptional(url()),
  /** Whether URLs of private files lead to S3 itself; default false. */
  directUrls: v.exactOptional(flag(), false),
  /** Seconds for which a signed URL is valid. */
  urlSeconds: v.exactOptional(integer(1)),
  /** Megabytes (10^6 bytes) of one file. */
  limitMB: v.exactOptional(integer(1, 1_000_000), 1_000),
  /** Days until what is in the trash is removed. */
  trashDays: v.exactOptional(integer(0)),
  /** What URLs of private files are signed with; default the secret of sessions. */
  secrets: v.exactOptional(secrets()),
  /** Accepts or refuses an upload, such as a scanner. */
  check: v.exactOptional(code<NonNullable<FilesOptions['check']>>()),
})

const Admin = section({
  /** E-mail of the administrator that the first start makes. */
  email: v.exactOptional(matching(EMAIL, 'an e-mail address')),
  /** Their password; default made, and printed. */
  password: v.exactOptional(v.pipe(v.string(), v.minLength(8, 'at least 8 characters'))),
  /** Accepted in place of an administrator's credential by the gateway's administration. */
  token: v.exactOptional(matching(/^\S{16,}$/, 'at least 16 characters, without spaces')),
  /** The first gateway key; default made, and printed. */
  key: v.exactOptional(
    matching(new RegExp(`^${KEY_PREFIX}\\S{16,}$`), `"${KEY_PREFIX}" and at least 16 characters without spaces`),
  ),
  /** Requests a minute of the first key. */
  keyRateLimit: v.exactOptional(integer(1, 1_000_000_000), 6000),
})

const GROUPS = 'groups of models, such as fast=gpt-4o-mini,gemini-2.5-flash;smart=gpt-5'
const isWord = (word: string): boolean => /^\S+$/.test(word)
const Groups = v.union(
  [
    v.record(
      v.pipe(v.string(), v.check(isWord, GROUPS)),
      v.pipe(
        v.array(v.string(GROUPS), GROUPS),
        v.minLength(1, GROUPS),
        v.check((models) => models.every(isWord), GROUPS),
      ),
      GROUPS,
    ),
    v.pipe(
      v.string(),
      v.transform((value) =>
        value.split(';').map((group): [name: string, models: string[]] => {
          const [name = '', ...models] = group.split(/[=,]/)
          // One `=`, after the name.
          return group.indexOf('=') === name.length && group.lastIndexOf('=') === name.length
            ? [name, models]
            : ['', []]
        }),
      ),
      v.check((groups) => groups.every(([name, models]) => [name, ...models].every(isWord)), GROUPS),
      v.transform((groups): Record<string, string[]> => Object.fromEntries(groups)),
    ),
  ],
  GROUPS,
)

const STATUSES = 'statuses from 500 to 599, such as 500,502,504,520'
const Statuses = v.pipe(
  v.union(
    [
      v.array(v.number(STATUSES), STATUSES),
      v.pipe(
        v.string(),
        v.transform((value) => value.split(',').map(Number)),
      ),
    ],
    STATUSES,
  ),
  v.check(
    (statuses) => statuses.every((status) => Number.isInteger(status) && status >= 500 && status <= 599),
    STATUSES,
  ),
)

const Routing = section({
  groups: v.exactOptional(Groups),
  defaults: v.exactOptional(section({ agent: v.exactOptional(text()), agentAlternative: v.exactOptional(text()) })),
  failoverStatuses: v.exactOptional(Statuses),
  retries: v.exactOptional(integer(0, 100)),
  maxWaitMs: v.exactOptional(integer(0, MAX_MS)),
  failures: v.exactOptional(integer(1)),
  restMs: v.exactOptional(integer(1, MAX_MS)),
})

type Listener<T> = NonNullable<T>

const Gateway = section({
  maxInFlight: v.exactOptional(integer(1, 1_000_000)),
  maxConcurrentPerKey: v.exactOptional(integer(1)),
  maxLoopDelayMs: v.exactOptional(integer(0, 60_000)),
  firstEventMs: milliseconds(),
  betweenEventsMs: milliseconds(),
  wholeAnswerMs: milliseconds(),
  earlyPingMs: v.exactOptional(integer(0, MAX_MS)),
  heartbeatMs: milliseconds(),
  abandonedMs: v.exactOptional(integer(0, MAX_MS)),
  onClientAbort: v.exactOptional(oneOf(['cancel', 'drain'])),
  holds: v.exactOptional(flag()),
  extraFields: v.exactOptional(
    list('names of fields, such as min_p,chat_template_kwargs', (path) => path.split('.').every(isWord)),
  ),
  imageModels: names(),
  speechModels: names(),
  voices: names(),
  transcriptionModels: names(),
  audioLimit: v.exactOptional(integer(1)),
  bodyLimit: v.exactOptional(integer(1)),
  embedding: v.exactOptional(section({ model: text(), dimensions: integer(1) })),
  toPng: v.exactOptional(code<Listener<GatewayOptions['toPng']>>()),
  onRequest: v.exactOptional(code<Extract<GatewayOptions['onRequest'], (...args: never[]) => unknown>>()),
})

const rates = section({
  keys: v.exactOptional(integer(0, 1_000_000)),
  rateLimit: v.exactOptional(integer(1, 1_000_000)),
})

const Platform = section({
  userRateLimit: v.exactOptional(integer(1, 1_000_000_000)),
  apiRateLimits: v.exactOptional(
    section({
      user: v.exactOptional(integer(1, 1_000_000_000)),
      address: v.exactOptional(integer(1, 1_000_000_000)),
    }),
  ),
  planLimits: v.exactOptional(
    section({
      projects: v.exactOptional(integer(0)),
      agents: v.exactOptional(integer(0)),
      storageGb: v.exactOptional(decimal()),
      dataGb: v.exactOptional(decimal()),
      sessions: v.exactOptional(integer(0)),
      tasks: v.exactOptional(integer(0)),
    }),
  ),
  selfRole: v.exactOptional(oneOf(['user', 'developer'])),
  trustedOrigins: v.exactOptional(origins()),
  bodyLimit: v.exactOptional(integer(1)),
  /** What refresh tokens are signed with and signing keys are encrypted with; default made, and kept in the store. */
  sessionSecret: v.exactOptional(secrets()),
  /** Work of hashing a password: scrypt with N = 2 to this power. */
  passwordCost: v.exactOptional(integer(8, 20), 15),
  identity: v.exactOptional(
    v.custom<PlatformOptions['identity']>((value) => typeof value === 'object' && value !== null, 'an identity'),
  ),
  teams: v.exactOptional(
    v.custom<NonNullable<PlatformOptions['teams']>>(
      (value) => typeof value === 'object' && value !== null,
      'a catalogue of teams',
    ),
  ),
  taskPolicy: v.exactOptional(code<NonNullable<PlatformOptions['taskPolicy']>>()),
  responder: v.exactOptional(code<NonNullable<PlatformOptions['responder']>>()),
})

/** The configuration: each section has the options of the function that it is named by, in the forms of a file. */
export const Config = section({
  $schema: v.exactOptional(v.string()),
  server: v.exactOptional(Server, {}),
  store: v.exactOptional(
    v.lazy((input): typeof StoreText | typeof StoreObject => (isOpenStore(input) ? StoreObject : StoreText)),
    'fs:.turnpike',
  ),
  files: v.exactOptional(Files, {}),
  admin: v.exactOptional(Admin, {}),
  /** `built-in`, a public table (`models.dev`, `litellm`, `:` and the URL of a mirror), or the path of a table. */
  prices: v.exactOptional(text(), 'built-in'),
  /** The providers in order of preference. Default one of each family whose key or address is in the environment, else simulations of all. */
  providers: v.pipe(v.array(ProviderEntry, 'a list of providers'), v.minLength(1, 'a list of at least one provider')),
  routing: v.exactOptional(Routing, {}),
  gateway: v.exactOptional(Gateway, {}),
  platform: v.exactOptional(Platform, {}),
  /** Origins whose pages may call the gateway and the platform. */
  cors: v.exactOptional(section({ origins: origins() })),
  balancePolicy: v.exactOptional(oneOf(['off', 'report', 'enforce']), 'report'),
  keyLimits: v.exactOptional(section({ developer: v.exactOptional(rates), admin: v.exactOptional(rates) })),
  /** The HTTP client that calls providers; default `fetch`. */
  transport: v.exactOptional(code<Transport>()),
})
export type Config = v.InferOutput<typeof Config>
export type ConfigInput = v.InferInput<typeof Config>
