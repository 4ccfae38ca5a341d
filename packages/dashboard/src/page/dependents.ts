/** What of the configuration names a provider, so that it is known before the provider is deleted. @module */
import type { Group, Key, Price } from './answers.js'
import { read } from './api.js'

/** Most keys that are looked at. */
const KEYS = 500

const namesIt = (id: string, model: string): boolean => model.startsWith(`${id}/`)

/** The models that a group stands for, with those that it falls back to. */
const modelsOfGroup = ({ models, contextFallback, contentFallback }: Group): string[] => [
  ...models.map((one) => (typeof one === 'string' ? one : one.model)),
  ...[contextFallback, contentFallback].filter((model) => model !== undefined),
]

/** What names a provider by its id, in sentences. */
export async function dependentsOf(id: string): Promise<string[]> {
  const [{ groups }, { prices }, { data: keys }] = await Promise.all([
    read<{ groups: Group[] }>('groups'),
    read<{ prices: Price[] }>('prices'),
    read<{ data: Key[] }>(`keys?limit=${KEYS}`),
  ])
  return [
    ...groups
      .filter((group) => modelsOfGroup(group).some((model) => namesIt(id, model)))
      .map(({ name }) => `The group ${name} has models of it.`),
    ...keys
      .filter(({ revoked, models }) => !revoked && models?.some((model) => namesIt(id, model)))
      .map(({ name, user, user_id }) => `The key “${name}” of ${user ?? user_id} is limited to models of it.`),
    ...prices.filter(({ model }) => namesIt(id, model)).map(({ model }) => `The price of ${model} is your own.`),
  ]
}
