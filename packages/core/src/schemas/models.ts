/** The model list of spec.md, with the `created` and `owned_by` that the OpenAI clients' types expect. */
import * as v from 'valibot'

/** What a model can be asked for; a closed list of our own (spec.md shows only "array of strings"). */
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

export const Model = v.looseObject({
  id: v.string(),
  object: v.literal('model'),
  provider: v.string(),
  capabilities: v.array(Capability),
  created: v.pipe(v.number(), v.integer()),
  owned_by: v.string(),
})
export type Model = v.InferOutput<typeof Model>

export const ModelList = v.object({ object: v.literal('list'), data: v.array(Model) })
export type ModelList = v.InferOutput<typeof ModelList>
