/**
 * Compares the built catalogue with a public table: models that it lacks, and limits and prices that differ (docs/catalogue.md).
 * `npm run catalogue [-- <file or address>]`: of models.dev's api.json (default: https://models.dev/api.json), or of litellm's table.
 */
import { readFile } from 'node:fs/promises'
import { parseArgs } from 'node:util'
import { fromLitellm, fromModelsDev, modelsFromModelsDev } from '../packages/core/dist/index.js'
import { undated } from '../packages/core/dist/internal.js'
import { anthropic, builtInRows, catalogue, google, openai } from '../packages/providers/dist/index.js'

const [source = 'https://models.dev/api.json'] = parseArgs({ allowPositionals: true }).positionals
const text = /^https?:/.test(source) ? await (await fetch(source)).text() : await readFile(source, 'utf8')
const json = JSON.parse(text)

const isModelsDev = Object.values(json).some((entry) => entry?.models)
const { rows, rejected } = isModelsDev ? fromModelsDev(json) : fromLitellm(json)
const models = isModelsDev ? modelsFromModelsDev(json) : {}
const families = [openai, anthropic, google].map((family) => family({ apiKey: 'none' }))

/** Whether a model of the table is one of the three families; litellm also has rows by size of image and of fine-tuned models. */
const isOurs = (id) => {
  const [provider, model, more] = id.split('/')
  return (
    more === undefined && !model.startsWith('ft:') && families.some(({ id, owns }) => id === provider && owns(model))
  )
}

/** What differs of what both tell, as `input 2 -> 3`. */
function differences(mine, theirs, path = '') {
  if (mine === undefined || theirs === undefined) return []
  if (typeof mine !== 'object') return mine === theirs ? [] : [`${path} ${mine} -> ${theirs}`]
  return Object.keys(theirs).flatMap((key) => differences(mine[key], theirs[key], path ? `${path}.${key}` : key))
}

function print(title, lines) {
  console.log(`${title}: ${lines.length}`)
  for (const line of lines) console.log(`  ${line}`)
}

const ids = [...new Set([...Object.keys(models), ...Object.keys(rows)])].filter(isOurs).toSorted()
const prices = builtInRows()
const isVersion = (id) => undated(id) !== id && (undated(id) in catalogue || ids.includes(undated(id)))

print(
  'New, the latest first',
  ids
    .filter((id) => !(id in catalogue) && !isVersion(id) && models[id]?.capabilities.length !== 0)
    .toSorted((a, b) => (models[b]?.created ?? 0) - (models[a]?.created ?? 0))
    .map((id) => {
      const { created = 0, context, maxOutput, capabilities } = models[id] ?? {}
      const date = created ? `${new Date(created * 1000).toISOString().slice(0, 10)} ` : ''
      return `${date}${id} ${JSON.stringify({ context, maxOutput, capabilities, price: rows[id] })}`
    }),
)
print(
  'Different',
  ids
    .filter((id) => id in catalogue)
    .flatMap((id) => {
      const { context, maxOutput } = catalogue[id]
      const changed = differences({ context, maxOutput, ...prices[id] }, { ...models[id], ...rows[id] })
      return changed.length > 0 ? [`${id} ${changed.join(', ')}`] : []
    }),
)
print(
  'Not in the table',
  Object.keys(catalogue).filter((id) => !ids.includes(id)),
)
print(
  'Not read',
  rejected.filter(({ model }) => isOurs(model)).map(({ model, reason }) => `${model} ${reason}`),
)
