import type { KV, RateLimiter } from '@turnpike/core'
import { EMAIL, KEY_PREFIX } from '@turnpike/core'
import { KEY_LIMITS } from '@turnpike/core/internal'
import type { GatewayOptions, Guard } from '@turnpike/gateway'
import type { FilesOptions } from '@turnpike/platform'
import type { Transport } from '@turnpike/providers'
import * as v from 'valibot'
import { Mail } from './mail.js'
import { Platform } from './platform.js'
import { ProviderEntry } from './providers.js'
import { isWord, Routing } from './routing.js'
import {
  code,
  flag,
  integer,
  list,
  matching,
  MAX_MS,
  MOST_RATE,
  object,
  oneOf,
  origins,
  secrets,
  section,
  setting,
  text,
  url,
} from './values.js'

const milliseconds = () => integer(1, MAX_MS)
const names = () => list('names without spaces')
const Server = section({
  port: setting('The port; 0 takes a free one.', integer(0, 65_535), 8787),
  host: setting('The address to listen on; 0.0.0.0 for all.', text(), '127.0.0.1'),
  workers: setting('Processes that serve one port and one store.', integer(1, 256), 1),
  watch: setting('Whether a change of the file is taken without a signal.', flag(), false),
  log: setting('The least severe lines of the log.', oneOf(['silent', 'error', 'warn', 'info', 'debug']), 'info'),
  baseUrl: setting('The address that users see; default from host and port.', url()),
  trustedHops: setting('Reverse proxies whose X-Forwarded-For and X-Forwarded-Proto are trusted.', integer(0, 100), 0),
  bodyMemoryMB: setting(
    'Megabytes of bodies that a process holds for /v1, and as many for /api; default 512, of the server on Node at most a quarter of the heap.',
    integer(1, 1_000_000),
  ),
  bodyIdleMs: setting('Milliseconds that a request body may pause; default 30,000.', milliseconds()),
  bodyBytesPerS: setting('Bytes a second at which a request body has to arrive; default 500.', integer(1)),
  answerIdleMs: setting(
    'Milliseconds for which a client may take nothing of its answer; default 60,000.',
    milliseconds(),
  ),
})

/** A store that a program has opened, and closes itself. */
export interface OpenStore {
  kv: KV
  /** Counts across all processes that share the store; default: in this process. */
  rateLimiter?: RateLimiter
}
const isOpenStore = (value: unknown): value is OpenStore =>
  typeof value === 'object' && value !== null && typeof (value as Partial<OpenStore>).kv === 'object'

const StoreUrl = matching(
  /^(memory|(fs|sqlite):.+|(rediss?|postgres|postgresql):\/\/.+|driver:[\w-]+(\?\{.*\})?)$/,
  'memory, fs:FOLDER, sqlite:FILE, redis://…, postgres://… or driver:NAME?{json}',
)
const Opened = v.custom<OpenStore>(isOpenStore)
const Store = v.lazy((given): typeof StoreUrl | typeof Opened => (isOpenStore(given) ? Opened : StoreUrl))

const FilesUrl = matching(
  /^(memory|fs:.+|(rediss?|s3):\/\/.+|driver:[\w-]+(\?\{.*\})?)$/,
  'memory, fs:FOLDER, s3://BUCKET?endpoint=…&region=…, redis://… or driver:NAME?{json}',
)

const Files = section({
  store: setting('Where the bytes of files are; default beside the store where that is a folder.', FilesUrl),
  accessKeyId: setting('The id of the key of an s3:// bucket.', text()),
  secretAccessKey: setting('The secret of that key.', text()),
  sessionToken: setting('Its session token, where it is temporary.', text()),
  publicUrl: setting('What URLs of public files begin with, such as those of a CDN.', url()),
  directUrls: setting('Whether URLs of private files lead to S3 itself.', flag(), false),
  urlSeconds: setting('Seconds for which a URL of a private file is valid at least; default 3,600.', integer(1)),
  limitMB: setting('Megabytes (10^6 bytes) of one file.', integer(1, 1_000_000), 1_000),
  trashDays: setting('Days for which files stay in the trash; default 30.', integer(0)),
  secrets: setting('What URLs of private files are signed with; default platform.sessionSecret.', secrets()),
  check: setting('Checks each upload, such as for viruses.', code<NonNullable<FilesOptions['check']>>()),
})

const sharedToken = () => matching(/^\S{16,}$/, 'at least 16 characters, without spaces')

const Admin = section({
  email: setting(
    'E-mail of the administrator that the first start makes; default admin@localhost.',
    matching(EMAIL, 'an e-mail address'),
  ),
  password: setting(
    'Their password; default made, and printed once.',
    v.pipe(v.string('a text'), v.minLength(8, 'at least 8 characters')),
  ),
  token: setting('Accepted in place of an administrator by the administration of the gateway.', sharedToken()),
  metricsToken: setting('Accepted for `/metrics` and `/health/providers` alone, such as of Prometheus.', sharedToken()),
  key: setting(
    'The first gateway key, `gw-` and at least 16 characters; default made, and printed once.',
    matching(new RegExp(`^${KEY_PREFIX}\\S{16,}$`), `"${KEY_PREFIX}" and at least 16 characters without spaces`),
  ),
  keyRateLimit: setting('Requests a minute of the first key.', integer(1, MOST_RATE), 6000),
})

const Gateway = section({
  maxInFlight: setting('Concurrent requests of a process; default 4,096.', integer(1, 1_000_000)),
  maxConcurrentPerKey: setting('Concurrent requests of a key; default any number.', integer(1)),
  maxLoopDelayMs: setting(
    'Delay of the event loop in milliseconds above which requests are refused; 0 = none.',
    integer(0, 60_000),
  ),
  firstEventMs: setting('Milliseconds for the first event of a stream; default 300,000.', milliseconds()),
  betweenEventsMs: setting('Milliseconds between two events of a stream; default 120,000.', milliseconds()),
  wholeAnswerMs: setting('Milliseconds for a whole answer; default 600,000.', milliseconds()),
  earlyPingMs: setting(
    'Milliseconds after which a stream begins with a comment; 0 = with its first event.',
    integer(0, MAX_MS),
  ),
  heartbeatMs: setting('Milliseconds of silence after which a stream has a comment; default 15,000.', milliseconds()),
  abandonedMs: setting(
    'Milliseconds for which a stream may go on without its client, after its first event; default 600,000.',
    integer(0, MAX_MS),
  ),
  onClientAbort: setting('Whether a call ends with its client.', oneOf(['cancel', 'drain'])),
  holds: setting('Whether the expected cost is stored before each call; default false.', flag()),
  extraFields: setting(
    'Fields that go to providers also for callers with limits.',
    list('names of fields, such as min_p,chat_template_kwargs', (path) => path.split('.').every(isWord)),
  ),
  endUserHeader: setting(
    'The header that names the end users behind a key; default the field user of the body.',
    v.pipe(matching(/^[\w!#$%&'*+.^`|~-]+$/, 'the name of a header, such as X-OpenWebUI-User-Id'), v.toLowerCase()),
  ),
  imageModels: setting('The models of images.', names()),
  speechModels: setting('The models of speech.', names()),
  voices: setting('The voices of speech.', names()),
  transcriptionModels: setting('The models of transcription.', names()),
  audioLimit: setting('Bytes of an audio file; default 25 MiB.', integer(1)),
  bodyLimit: setting('Bytes of a JSON body at /v1; default 20 MiB.', integer(1)),
  embedding: setting(
    'The embedding model of the platform.',
    section({
      model: v.pipe(text(), v.description('Its id.')),
      dimensions: v.pipe(integer(1), v.description('The length of its vectors.')),
    }),
  ),
  guards: setting(
    'Functions that see, change or refuse requests and answers, the first outermost.',
    v.array(object<Guard>('a guard'), 'a list of guards'),
  ),
  guardMs: setting('Milliseconds that a function of a guard may take.', milliseconds()),
  toPng: setting('Converts an image to PNG.', code<NonNullable<GatewayOptions['toPng']>>()),
  openTelemetry: setting(
    'Whether requests are reported to OpenTelemetry, whose SDK the program or --import starts; default false.',
    flag(),
  ),
  onRequest: setting(
    'Called for each finished request.',
    code<Extract<GatewayOptions['onRequest'], (...args: never[]) => unknown>>(),
  ),
  routes: setting(
    'Functions that return further routes.',
    v.array(code<NonNullable<GatewayOptions['routes']>[number]>(), 'a list of functions'),
  ),
})

const rates = ({ keys, rateLimit }: { keys: number; rateLimit: number }) => {
  // `toLocaleString` would load the data of a locale at each start: 10 ms and several megabytes.
  const text = (number: number): string => String(number).replace(/\B(?=(\d{3})+$)/g, ',')
  return section({
    keys: setting(`Keys that are not revoked; default ${text(keys)}.`, integer(0, 1_000_000)),
    rateLimit: setting(
      `Requests a minute of each, and of all together; default ${text(rateLimit)}.`,
      integer(1, 1_000_000),
    ),
  })
}

/** A section has the options of the function that it is named by, in the forms of a file. */
export const ConfigSchema = section({
  $schema: setting('The JSON Schema of this file.', v.string()),
  server: setting('How it listens, and what it logs.', Server, {}),
  store: setting('Where everything but files is kept.', Store, 'fs:.turnpike'),
  usageDays: setting(
    'Days for which the record of each request is kept; 0 = for ever. Sums are kept in any case.',
    integer(0, 36_500),
    400,
  ),
  files: setting('The files of users.', Files, {}),
  admin: setting('The first administrator and the first gateway key.', Admin, {}),
  prices: setting(
    'built-in, models.dev or litellm (: and the URL of a mirror), or the path of a table.',
    text(),
    'built-in',
  ),
  providers: v.pipe(
    v.array(ProviderEntry, 'a list of providers'),
    v.minLength(1, 'a list of at least one provider'),
    v.description('The providers in order of preference.'),
  ),
  routing: setting('How requests find a provider.', Routing, {}),
  gateway: setting('The gateway: options of createGateway.', Gateway, {}),
  platform: setting('The platform: options of createPlatform.', Platform, {}),
  mail: setting('Messages to people, such as links to those who have forgotten their password.', Mail),
  cors: setting(
    'Cross-origin requests.',
    section({ origins: v.pipe(origins(), v.description('Origins whose scripts may call with a key or token.')) }),
  ),
  balancePolicy: setting('Whether users need credits.', oneOf(['off', 'report', 'enforce']), 'report'),
  keyLimits: setting(
    'The gateway keys of users by their role.',
    section({
      developer: setting('Of developers.', rates(KEY_LIMITS.developer)),
      admin: setting('Of administrators.', rates(KEY_LIMITS.admin)),
    }),
  ),
  transport: setting('The HTTP client that calls providers; default fetch.', code<Transport>()),
})
/** A configuration with its defaults. */
export type Config = v.InferOutput<typeof ConfigSchema>
/** A configuration as it is given: every setting may be its text, and only `providers` is needed (docs/configuration.md). */
export type ConfigInput = v.InferInput<typeof ConfigSchema>
