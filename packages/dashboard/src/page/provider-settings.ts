/** The settings of providers that forms ask for, between fields and bodies of the API. @module */
import { numberIn, textOf } from '@turnpike/ui'
import type { ProviderSetting, ProviderType } from './answers.js'

/** How a setting is asked for. */
export interface SettingField {
  label: string
  kind: 'text' | 'address' | 'secret' | 'account' | 'number' | 'share' | 'models' | 'pairs' | 'flag'
  /** In place of what the API says of it. */
  hint?: string | undefined
  /** Whether few need it. */
  isFolded?: boolean
}

/** The settings that forms ask for, in their order. Others stay as the API has set them. */
const fields: Record<string, SettingField> = {
  accountId: { label: 'Account', kind: 'text' },
  region: { label: 'Region', kind: 'text' },
  project: { label: 'Project', kind: 'text' },
  location: { label: 'Location', kind: 'text' },
  baseURL: { label: 'Address', kind: 'address' },
  apiKey: { label: 'API key', kind: 'secret' },
  credentials: { label: 'Credentials', kind: 'secret' },
  models: { label: 'Models', kind: 'models', hint: 'Ids with commas between them. Empty: all that it has.' },
  deployments: { label: 'Deployments', kind: 'pairs', hint: 'A line for each: gpt-4o = my-deployment.' },
  profiles: { label: 'Inference profiles', kind: 'pairs', hint: 'A line for each: model = id or ARN.', isFolded: true },
  id: {
    label: 'Name in requests',
    kind: 'text',
    hint: 'What stands before its models, as in groq/llama-3.3. Providers with one name share its requests.',
    isFolded: true,
  },
  aliases: {
    label: 'Further names of models',
    kind: 'pairs',
    hint: 'A line for each: name = id of the model.',
    isFolded: true,
  },
  apiVersion: { label: 'API version', kind: 'text', isFolded: true },
  headers: {
    label: 'Further headers',
    kind: 'pairs',
    hint: 'A line for each: name = value. What is stored is not shown; lines take its place.',
    isFolded: true,
  },
  audio: { label: 'Speech and transcription', kind: 'flag', isFolded: true },
  fetchImages: { label: 'Fetch pictures at addresses', kind: 'flag', isFolded: true },
  weight: { label: 'Weight', kind: 'share', hint: 'Its part among those of one name. Empty: 1.', isFolded: true },
  requestsPerMinute: { label: 'Requests a minute', kind: 'number', hint: 'Empty: any number.', isFolded: true },
  tokensPerMinute: { label: 'Tokens a minute', kind: 'number', hint: 'Empty: any number.', isFolded: true },
  retries: { label: 'Retries', kind: 'number', hint: 'Where it is busy. Empty: as everywhere.', isFolded: true },
  firstEventMs: {
    label: 'First event, ms',
    kind: 'number',
    hint: 'Then the next is asked. Empty: as everywhere.',
    isFolded: true,
  },
  betweenEventsMs: { label: 'Between events, ms', kind: 'number', hint: 'Empty: as everywhere.', isFolded: true },
  wholeAnswerMs: {
    label: 'Whole answer, ms',
    kind: 'number',
    hint: 'Then the next is asked. Empty: as everywhere.',
    isFolded: true,
  },
}

/** Settings of a provider as the API has them. */
export type Settings = Record<string, unknown>

/** A setting and how it is asked for. */
export type Asked = Omit<ProviderSetting, 'description'> & SettingField

/** What Amazon signs with, as fields. */
export const awsFields = ['accessKeyId', 'secretAccessKey', 'sessionToken'] as const

/** Settings that are more than a form can say. */
const isBeyond = (name: string, value: unknown): boolean =>
  name === 'models' && Array.isArray(value) && value.some((one) => typeof one !== 'string')

/**
 * The settings of a kind of provider that its form asks for.
 * @param isOwn whether it is a server of one's own: its address is needed, and its key may not be
 */
export function askedOf({ type, settings, local }: ProviderType, given: Settings = {}, isOwn = false): Asked[] {
  const byName = new Map(settings.map((one) => [one.name, one]))
  return Object.entries(fields).flatMap(([name, field]): Asked[] => {
    const found = byName.get(name)
    if (!found || isBeyond(name, given[name])) return []
    const { description, ...setting } = found
    const asked: Asked = { hint: description, ...setting, ...field }
    if (name === 'baseURL')
      return [
        isOwn || found.required || local
          ? { ...asked, required: isOwn || found.required }
          : { ...asked, isFolded: true },
      ]
    if (name === 'apiKey') {
      const isFree = isOwn || local
      if (type === 'vertex') return []
      const required = !isFree && type !== 'bedrock'
      const hint = required ? undefined : 'Empty where it needs none.'
      return [{ ...asked, hint, required, ...(local && { isFolded: true as const }) }]
    }
    if (name === 'id' && isOwn) return [{ ...asked, required: true, isFolded: false }]
    if (name === 'credentials' && type === 'bedrock') return [{ ...asked, kind: 'account', isFolded: true }]
    if (name === 'credentials') return [{ ...asked, hint: 'The JSON key of a service account.', required: true }]
    return [asked]
  })
}

/** Pairs of names and values, a line for each. */
export const pairsText = (value: unknown): string =>
  Object.entries((value ?? {}) as Record<string, string>)
    .map(([name, of]) => `${name} = ${of}`)
    .join('\n')

/** @throws Error that names the field, for a line that is no pair */
function pairsIn(text: string, field: string): Record<string, string> | null {
  const lines = text.split('\n').filter((line) => line.trim() !== '')
  if (lines.length === 0) return null
  return Object.fromEntries(
    lines.map((line) => {
      const [, name, value] = /^\s*([^=]+?)\s*=\s*(.+?)\s*$/.exec(line) ?? []
      if (name === undefined) throw new Error(`${field} must be lines of name = value`)
      return [name, value!]
    }),
  )
}

function valueIn(form: FormData, { name, kind }: Asked): unknown {
  const text = textOf(form, name)
  switch (kind) {
    case 'number':
    case 'share':
      return numberIn(form, name)
    case 'flag':
      return form.has(name) || null
    case 'pairs':
      return pairsIn(text, name)
    case 'models': {
      const ids = text.split(',').flatMap((id) => id.trim() || [])
      return ids.length === 0 ? null : ids.length === 1 && ids[0] === 'live' ? 'live' : ids
    }
    case 'account': {
      const given = awsFields.map((part) => [part, textOf(form, `${name}.${part}`)] as const)
      const filled = given.filter(([, value]) => value !== '')
      return filled.length > 0 ? Object.fromEntries(filled) : null
    }
    default:
      return text || null
  }
}

/** What a form says; null = nothing. Of secrets, only those that were typed. @throws Error that names the field that cannot be read */
export function settingsIn(form: FormData, asked: readonly Asked[]): Settings {
  const settings: Settings = {}
  for (const one of asked) {
    const value = valueIn(form, one)
    if (value !== null || !one.secret) settings[one.name] = value
  }
  return settings
}
