import type { OwnModel, Provider, UnitClass } from '@turnpike/core'
import { Capability } from '@turnpike/core'
import { unitClasses } from '@turnpike/core/internal'
import type { ApiKey } from '@turnpike/providers'
import type { AwsCredentials } from '@turnpike/providers/bedrock'
import type { PresetId } from '@turnpike/providers/presets'
import { presets } from '@turnpike/providers/presets'
import type { ServiceAccountKey } from '@turnpike/providers/vertex'
import * as v from 'valibot'
import { isTree } from './tree.js'
import {
  byName,
  code,
  decimal,
  either,
  flag,
  integer,
  list,
  matching,
  MAX_MS,
  object,
  oneOf,
  positive,
  section,
  setting,
  text,
  url,
} from './values.js'

const AwsKey = section({
  accessKeyId: text(),
  secretAccessKey: text(),
  sessionToken: v.exactOptional(text()),
})
const AwsFunction = code<() => AwsCredentials | Promise<AwsCredentials>>()

/** A key or token: a text, or in code a function that gives the current one. */
const secret = () => {
  const expected = 'ASCII characters without spaces'
  return v.union([v.pipe(v.string(), v.regex(/^[\x21-\x7e]+$/, expected)), code<Exclude<ApiKey, string>>()], expected)
}
const names = (expected = 'names by the ids of models') => byName(expected, text('a name'))

const rates = Object.fromEntries(unitClasses.map((name) => [name, v.exactOptional(decimal())])) as Record<
  UnitClass,
  v.ExactOptionalSchema<ReturnType<typeof decimal>, undefined>
>
const tier = {
  ...rates,
  tiers: setting(
    'Rates for requests whose prompt has more than so many tokens.',
    v.array(section({ ...rates, above: integer(1) }), 'a list of rates, each with above'),
  ),
}
const Price = section({
  ...tier,
  service_tiers: setting('Prices of service tiers by name.', byName('prices by names', section(tier))),
})
const OwnModelSchema = section({
  id: v.pipe(text('the id of a model'), v.description('What callers call it, and by what its rules are known.')),
  upstream: setting('What its provider calls it, such as a deployment of Azure; default the id.', text()),
  price: setting('In US dollars per million units (pricing.md); it goes before every table.', Price),
  contextWindow: setting('The most tokens of prompt and answer.', integer(1)),
  maxOutput: setting('The most tokens of an answer.', integer(1)),
  capabilities: setting('All that it can do.', v.array(oneOf(Capability.options), 'a list of capabilities')),
})
const Id = matching(/^\S+$/, 'the id of a model')
/** As it may be given: numbers may be texts. */
type Given<T> = T extends number ? T | string : T extends object ? { [Name in keyof T]: Given<T[Name]> } : T
type Models = (string | OwnModel)[]

/** Models by their ids, or with what is known of them. Its type is written out, as the inferred one takes hundreds of kilobytes. */
const models = (expected = 'ids of models'): v.GenericSchema<string | Given<Models>, Models> =>
  either(
    (given) => Array.isArray(given) && given.some(isTree),
    v.array(either(isTree, OwnModelSchema, Id), expected),
    list(expected),
  )

const common = {
  id: setting(
    'Prefix of the ids of its models, and value of `provider` in requests. Several with one id share its requests; default the type.',
    matching(/^(?!auto$)[\w.-]+$/, 'letters, digits, dots, dashes and underscores, other than auto'),
  ),
  apiKey: setting('The key of its API; none for servers that need none.', secret()),
  weight: setting('Its part of the calls among those with the same id; default 1.', positive()),
  requestsPerMinute: setting('The most calls in a minute; default any number.', integer(1)),
  tokensPerMinute: setting('The most tokens in a minute; default any number.', integer(1)),
  headers: setting(
    'Further headers of its requests. Their values are secrets.',
    byName('values by the names of headers', text('a value')),
  ),
  aliases: setting(
    'Further names of its models: the id of the model by the name that callers use.',
    names('ids of models by their other names'),
  ),
  retries: setting(
    'How often it is tried again where it is busy; default that of the group, else of the routing.',
    integer(0, 100),
  ),
  firstEventMs: setting(
    'Milliseconds for the first event of a stream, after which the next provider is asked; default that of the gateway.',
    integer(1, MAX_MS),
  ),
  betweenEventsMs: setting(
    'Milliseconds between two events of a stream; default that of the gateway.',
    integer(1, MAX_MS),
  ),
  wholeAnswerMs: setting(
    'Milliseconds for a whole answer, after which the next provider is asked; default that of the gateway.',
    integer(1, MAX_MS),
  ),
  disabled: setting('Whether it is left out.', flag(), false),
}
const simulated = setting('Whether an upstream in this process answers in its place, without a key.', flag(), false)
const listed = setting(
  'Its models by their ids, or with what is known of them, or live: those that it lists itself. Default the catalogue at the address of the vendor, live at another.',
  either((given) => given === 'live', v.literal('live'), models('live, or ids of models')),
)
const address = setting("The address of its API; default the vendor's.", url())
const thinkTags = setting(
  'Whether thoughts in <think>…</think> become reasoning_content; open where answers begin within the tag. Default false.',
  v.union([flag(), v.literal('open')], 'true, false or open'),
)
const fetchImages = setting(
  'Whether images at https URLs are fetched for Gemini, from public addresses only; default false.',
  flag(),
)
const token = setting('A function that gives the current access token.', secret())

/** The settings of a provider by its type. */
export const types = [
  section({ type: v.literal('openai'), ...common, simulated, baseURL: address, models: listed, thinkTags }),
  section({ type: v.literal('anthropic'), ...common, simulated, baseURL: address, models: listed }),
  section({
    type: v.literal('google'),
    ...common,
    simulated,
    baseURL: address,
    models: listed,
    fetchImages,
    audio: setting('Whether it has speech and transcription; default false.', flag()),
  }),
  section({
    type: v.literal('azure'),
    ...common,
    baseURL: v.pipe(
      text('the endpoint of the resource, such as https://my-resource.openai.azure.com'),
      v.description('The endpoint of the resource, such as https://my-resource.openai.azure.com.'),
      url(),
    ),
    models: listed,
    token,
    apiVersion: setting(
      'The date of an API version, such as 2024-10-21; default the v1 API, which needs none.',
      text(),
    ),
    deployments: setting(
      'The deployments by the ids of models that callers use, in short for models with upstream; default the same.',
      names(),
    ),
    thinkTags,
  }),
  section({
    type: v.literal('bedrock'),
    ...common,
    baseURL: address,
    models: setting('Its models by their ids, or with what is known of them; default those of the profiles.', models()),
    region: v.pipe(text('a region, such as us-east-1'), v.description('The region, such as us-east-1.')),
    credentials: setting(
      'What signs its requests (SigV4), where there is no apiKey.',
      v.lazy((given): typeof AwsKey | typeof AwsFunction => (typeof given === 'function' ? AwsFunction : AwsKey)),
    ),
    profiles: setting(
      'The id at Bedrock, such as the ARN of an inference profile, by the id that callers use, in short for models with upstream.',
      names(),
    ),
  }),
  section({
    type: v.literal('vertex'),
    ...common,
    baseURL: address,
    models: setting(
      'Its models by their ids, or with what is known of them; default those of Gemini in the catalogue.',
      models(),
    ),
    project: setting('The id of the project; default that of the credentials.', text()),
    location: setting('A region, us, eu, or global, the default.', text()),
    credentials: setting(
      'The key of a service account, also as JSON in a text, or the path of its file.',
      v.union(
        [text(), object<ServiceAccountKey>('the key of a service account')],
        'the key of a service account, or the path of its file',
      ),
    ),
    token,
    fetchImages,
  }),
  section({
    type: v.picklist(Object.keys(presets) as PresetId[]),
    ...common,
    baseURL: address,
    models: listed,
    thinkTags,
    accountId: setting('The account, which is a part of the address of Cloudflare.', text()),
  }),
] as const
const typeNames = types.flatMap(({ entries: { type } }): readonly string[] =>
  type.type === 'literal' ? [type.literal] : type.options,
)

const Settings = v.variant('type', types, `one of ${typeNames.join(', ')}`)
export type ProviderSettings = v.InferOutput<typeof Settings>

const isProvider = (value: unknown): value is Provider =>
  typeof value === 'object' && value !== null && typeof (value as Partial<Provider>).models === 'function'

const Made = v.custom<Provider>(isProvider)
const None = v.never('settings, such as { type: openai, apiKey: … }') as unknown as typeof Settings

/** A provider: its settings, or one that was made by code. */
export const ProviderEntry = v.lazy((input): typeof Settings | typeof Made =>
  isProvider(input) ? Made : input === undefined || isTree(input) ? Settings : None,
)
export const isMade = (entry: Provider | ProviderSettings): entry is Provider => isProvider(entry)
