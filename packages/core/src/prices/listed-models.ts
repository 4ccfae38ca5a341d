import type { Capability } from '../schemas/models.js'
import type { Fields } from './imported-prices.js'
import { fieldsOf } from './imported-prices.js'
import type { ListedModel } from './price.js'

const has = (list: unknown, word: string): boolean => Array.isArray(list) && list.includes(word)

/** Models that no endpoint here reaches: of live conversations, and those of OpenAI that are in the Responses API alone, which the table does not tell. */
const elsewhere = /\blive\b|realtime|native-audio|^openai\/.*(-codex|-pro|-deep-research)(-|$)/

/** What a model can do, by what goes in and what comes out. */
function capabilitiesOf(id: string, facts: Fields): Capability[] {
  const { input, output } = fieldsOf(facts['modalities'])
  if (elsewhere.test(id)) return []
  if (id.includes('embedding')) return ['embeddings']
  // The table has some that chat as well, which OpenAI's do not.
  if (/^openai\/.*image/.test(id)) return ['images']
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

/**
 * What https://models.dev/api.json tells of models besides their prices, by `provider/model`; values of other forms are left out.
 * @example const models = modelsFromModelsDev(await (await fetch('https://models.dev/api.json')).json())
 */
export function modelsFromModelsDev(json: unknown): Record<string, ListedModel> {
  const models: Record<string, ListedModel> = {}
  for (const [provider, entry] of Object.entries(fieldsOf(json)))
    for (const [model, facts] of Object.entries(fieldsOf(fieldsOf(entry)['models'])))
      models[`${provider}/${model}`] = listedModel(`${provider}/${model}`, fieldsOf(facts))
  return models
}
