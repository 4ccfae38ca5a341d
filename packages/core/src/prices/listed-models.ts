import type { Capability } from '../schemas/models.js'
import type { Fields } from './imported-prices.js'
import { fieldsOf } from './imported-prices.js'
import type { ListedModel } from './price.js'

const has = (list: unknown, word: string): boolean => Array.isArray(list) && list.includes(word)

/** What a model can do, by what goes in and what comes out; nothing where it has an API of its own, such as that of live conversations. */
function capabilitiesOf(id: string, facts: Fields): Capability[] {
  const { input, output } = fieldsOf(facts['modalities'])
  if (/\blive\b|realtime|native-audio/.test(id) || fieldsOf(facts['provider'])['shape'] === 'responses') return []
  if (id.includes('embedding')) return ['embeddings']
  if (!has(input, 'text')) return has(input, 'audio') && has(output, 'text') ? ['transcription'] : []
  if (!has(output, 'text')) return has(output, 'image') ? ['images'] : has(output, 'audio') ? ['speech'] : []
  const chat: [Capability, boolean][] = [
    ['chat', true],
    ['images', has(output, 'image')],
    ['tools', facts['tool_call'] === true],
    ['vision', has(input, 'image')],
    ['json_schema', facts['structured_output'] === true],
    ['reasoning', facts['reasoning'] === true],
  ]
  return chat.filter(([, can]) => can).map(([capability]) => capability)
}

const tokens = (count: unknown): number | undefined =>
  Number.isSafeInteger(count) && (count as number) > 0 ? (count as number) : undefined

function listedModel(id: string, facts: Fields): ListedModel {
  const { context, output } = fieldsOf(facts['limit'])
  const released = Date.parse(String(facts['release_date'])) / 1000
  const capabilities = facts['status'] === 'deprecated' ? [] : capabilitiesOf(id, facts)
  return {
    context: tokens(context),
    // Of an embedding it is the size of the vector.
    maxOutput: id.includes('embedding') ? undefined : tokens(output),
    capabilities,
    created: Number.isFinite(released) ? released : 0,
  }
}

/** What https://models.dev/api.json tells of models besides their prices, by `provider/model`; values of other forms are left out. */
export function modelsFromModelsDev(json: unknown): Record<string, ListedModel> {
  const models: Record<string, ListedModel> = {}
  for (const [provider, entry] of Object.entries(fieldsOf(json)))
    for (const [model, facts] of Object.entries(fieldsOf(fieldsOf(entry)['models'])))
      models[`${provider}/${model}`] = listedModel(model, fieldsOf(facts))
  return models
}
