import type { Provider } from '@turnpike/core'
import * as v from 'valibot'
import { flag, list, matching, section, setting, url } from './values.js'

const common = {
  id: setting(
    'Prefix of the ids of its models, and value of `provider` in requests. Several with one id share its requests; default the type.',
    matching(/^[\w.-]+$/, 'letters, digits, dots, dashes and underscores'),
  ),
  apiKey: setting(
    'The key of its API; none for servers that need none.',
    matching(/^[\x21-\x7e]+$/, 'ASCII characters without spaces'),
  ),
  baseURL: setting("The address of its API; default the vendor's.", url()),
  models: setting(
    'The ids of its models, or live: those that it lists itself. Default the catalogue at the address of the vendor, live at another.',
    v.union([v.literal('live'), list('live, or ids of models')], 'live, or ids of models'),
  ),
  simulated: setting('Whether an upstream in this process answers in its place, without a key.', flag(), false),
  disabled: setting('Whether it is left out.', flag(), false),
}

/** The settings of a provider by its type. */
const types = [
  section({
    type: v.literal('openai'),
    ...common,
    thinkTags: setting(
      'Whether thoughts in <think>…</think> become reasoning_content; open where answers begin within the tag. Default false.',
      v.union([flag(), v.literal('open')], 'true, false or open'),
    ),
  }),
  section({ type: v.literal('anthropic'), ...common }),
  section({
    type: v.literal('google'),
    ...common,
    fetchImages: setting(
      'Whether images at https URLs are fetched for it, from public addresses only; default false.',
      flag(),
    ),
    audio: setting('Whether it has speech and transcription; default false.', flag()),
  }),
] as const

const Settings = v.variant('type', types, `one of ${types.map(({ entries }) => entries.type.literal).join(', ')}`)
export type ProviderSettings = v.InferOutput<typeof Settings>

const isProvider = (value: unknown): value is Provider =>
  typeof value === 'object' && value !== null && typeof (value as Partial<Provider>).models === 'function'

const Made = v.custom<Provider>(isProvider)

/** A provider: its settings, or one that was made by code. */
export const ProviderEntry = v.lazy((input): typeof Settings | typeof Made => (isProvider(input) ? Made : Settings))
export const isMade = (entry: Provider | ProviderSettings): entry is Provider => isProvider(entry)
