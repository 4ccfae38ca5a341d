/** The model list, with the `created` and `owned_by` that the OpenAI clients' types expect. */
import * as v from 'valibot'
import { unitClasses } from '../prices/price.js'
import type { UnitClass } from '../prices/price.js'
import { integer } from './integers.js'

/** A capability of a model. The closed list is ours. */
export const Capability = v.picklist([
  'chat',
  'embeddings',
  'images',
  'speech',
  'transcription',
  'tools',
  'vision',
  'json_schema',
  'reasoning',
])
export type Capability = v.InferOutput<typeof Capability>

/** How a field of a chat request is treated on its way to an upstream. An addition of ours. */
export const Fidelity = v.picklist(['kept', 'clamped', 'emulated', 'dropped', 'refused'])
export type Fidelity = v.InferOutput<typeof Fidelity>

/** US dollars per million units of each class. */
const rates = Object.fromEntries(unitClasses.map((name) => [name, v.exactOptional(v.number())])) as Record<
  UnitClass,
  v.ExactOptionalSchema<v.NumberSchema<undefined>, undefined>
>
const price = {
  ...rates,
  /** For all units of a request whose prompt has more than `above` tokens. */
  tiers: v.exactOptional(v.array(v.object({ ...rates, above: v.number() }))),
}

/** A model record; the optional fields are ours. */
export const Model = v.looseObject({
  id: v.string(),
  object: v.literal('model'),
  provider: v.string(),
  /** Empty = not known, as of models that only their upstream lists. */
  capabilities: v.array(Capability),
  created: integer,
  owned_by: v.string(),
  /** By field of a chat request; only in the record of a single model, not in the list. */
  fidelity: v.optional(v.record(v.string(), Fidelity)),
  /** These three as its provider's configuration says; absent = it does not. In US dollars per million units. */
  price: v.optional(v.object({ ...price, service_tiers: v.exactOptional(v.record(v.string(), v.object(price))) })),
  /** The most tokens of prompt and answer together. */
  context_window: v.optional(integer),
  max_output_tokens: v.optional(integer),
  /** Of a group of models or an alias: those that may answer, as `provider/model`, in order of preference. */
  members: v.optional(v.array(v.string())),
})
export type Model = v.InferOutput<typeof Model>

/** The answer of GET /v1/models. */
export const ModelList = v.object({ object: v.literal('list'), data: v.array(Model) })
export type ModelList = v.InferOutput<typeof ModelList>
