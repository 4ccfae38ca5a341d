import type { Provider } from '@turnpike/core'
import type { ApiKey } from '@turnpike/providers'
import type { AwsCredentials } from '@turnpike/providers/bedrock'
import type { PresetId } from '@turnpike/providers/presets'
import { presets } from '@turnpike/providers/presets'
import type { ServiceAccountKey } from '@turnpike/providers/vertex'
import * as v from 'valibot'
import { code, flag, integer, list, matching, object, positive, section, setting, text, url } from './values.js'

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
const ids = () => list('ids of models')
const names = () => v.record(v.string(), text('a name'), 'names by the ids of models')

const common = {
  id: setting(
    'Prefix of the ids of its models, and value of `provider` in requests. Several with one id share its requests; default the type.',
    matching(/^[\w.-]+$/, 'letters, digits, dots, dashes and underscores'),
  ),
  apiKey: setting('The key of its API; none for servers that need none.', secret()),
  weight: setting('Its part of the calls among those with the same id; default 1.', positive()),
  requestsPerMinute: setting('The most calls in a minute; default any number.', integer(1)),
  tokensPerMinute: setting('The most tokens in a minute; default any number.', integer(1)),
  disabled: setting('Whether it is left out.', flag(), false),
}
const simulated = setting('Whether an upstream in this process answers in its place, without a key.', flag(), false)
const listed = setting(
  'The ids of its models, or live: those that it lists itself. Default the catalogue at the address of the vendor, live at another.',
  v.union([v.literal('live'), list('live, or ids of models')], 'live, or ids of models'),
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
const types = [
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
      text(),
      v.description('The endpoint of the resource, such as https://my-resource.openai.azure.com.'),
      url(),
    ),
    models: listed,
    token,
    apiVersion: setting(
      'The date of an API version, such as 2024-10-21; default the v1 API, which needs none.',
      text(),
    ),
    deployments: setting('The deployments by the ids of models that callers use; default the same.', names()),
    thinkTags,
  }),
  section({
    type: v.literal('bedrock'),
    ...common,
    baseURL: address,
    models: setting('The ids of its models; default those of the profiles.', ids()),
    region: v.pipe(text(), v.description('The region, such as us-east-1.')),
    credentials: setting(
      'What signs its requests (SigV4), where there is no apiKey.',
      v.lazy((given): typeof AwsKey | typeof AwsFunction => (typeof given === 'function' ? AwsFunction : AwsKey)),
    ),
    profiles: setting(
      'The id at Bedrock, such as the ARN of an inference profile, by the id that callers use.',
      names(),
    ),
  }),
  section({
    type: v.literal('vertex'),
    ...common,
    baseURL: address,
    models: setting('The ids of its models; default those of Gemini in the catalogue.', ids()),
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

/** A provider: its settings, or one that was made by code. */
export const ProviderEntry = v.lazy((input): typeof Settings | typeof Made => (isProvider(input) ? Made : Settings))
export const isMade = (entry: Provider | ProviderSettings): entry is Provider => isProvider(entry)
