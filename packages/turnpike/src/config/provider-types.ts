/** The kinds of providers as people choose among them, by what the schema of their settings says. @module */
import type { Preset } from '@turnpike/providers/presets'
import { presets } from '@turnpike/providers/presets'
import * as v from 'valibot'
import type { ProviderSettings } from './providers.js'
import { types } from './providers.js'
import { isSecret } from './shown.js'

/** A setting of a kind of provider. */
export interface ProviderSetting {
  name: string
  /** What it is, in a sentence; absent where nothing is to be said. */
  description?: string
  required: boolean
  /** Whether its value is shown to nobody. */
  secret: boolean
}

/** A kind of provider. */
export interface ProviderType extends Pick<Preset, 'name' | 'local'> {
  type: ProviderSettings['type']
  /** The address of its API, where that is known; `{accountId}` stands for the account. */
  base_url?: string
  settings: ProviderSetting[]
}

/** The names for people of the kinds that are no presets. */
const vendors: Record<Exclude<ProviderSettings['type'], keyof typeof presets>, string> = {
  openai: 'OpenAI',
  anthropic: 'Anthropic',
  google: 'Google Gemini',
  azure: 'Azure OpenAI',
  bedrock: 'Amazon Bedrock',
  vertex: 'Google Vertex AI',
}

const settingsOf = (entries: v.ObjectEntries): ProviderSetting[] =>
  Object.entries(entries)
    .filter(([name]) => name !== 'type')
    .map(([name, schema]) => {
      const isOptional = schema.type === 'exact_optional'
      const own = isOptional ? (schema as v.ExactOptionalSchema<v.GenericSchema, unknown>).wrapped : schema
      const description = v.getDescription(own as v.GenericSchema)
      return { name, ...(description && { description }), required: !isOptional, secret: isSecret(name) }
    })

const typesOf = ({ entries }: (typeof types)[number]): ProviderType[] => {
  const settings = settingsOf(entries)
  const { type } = entries
  if (type.type === 'literal') return [{ type: type.literal, name: vendors[type.literal], settings }]
  return type.options.map((type) => {
    const { name, baseURL, local }: Preset = presets[type]
    const own = settings.filter((one) => one.name !== 'accountId' || baseURL.includes('{accountId}'))
    return { type, name, base_url: baseURL, ...(local && { local }), settings: own }
  })
}

/** All kinds of providers. */
export const providerTypes: readonly ProviderType[] = types.flatMap(typesOf)
