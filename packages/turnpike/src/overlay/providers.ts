/** Providers that administrators add while the server runs. @module */
import { isDeepStrictEqual } from 'node:util'
import type { Provider } from '@turnpike/core'
import { uuidv7 } from '@turnpike/core/helpers'
import { invalid, keyEnd } from '@turnpike/core/internal'
import type { ConfiguredProvider, GatewayRoute } from '@turnpike/gateway'
import { actorOf, ConfiguredProviders, operation, ProviderProbe, probeView } from '@turnpike/gateway'
import { route } from '@turnpike/http'
import * as v from 'valibot'
import type { ProviderSource } from '../config/check.js'
import type { ProviderSettings } from '../config/providers.js'
import { isMade } from '../config/providers.js'
import { isSecret, shownAt } from '../config/shown.js'
import type { Tree } from '../config/tree.js'
import { isTree } from '../config/tree.js'
import type { Administered } from './operations.js'
import { notFound, orInvalid, withoutNull } from './operations.js'
import type { ReadProvider } from './read.js'
import { checkedSettings } from './read.js'
import type { Overlay, OverlayEntry, StoredProvider } from './store.js'
import { ENTRY_BYTES } from './store.js'

/** Settings by which an administrator could have a provider's secrets sent to a host of their own: some proxies are told by a header where to go. */
const ADDRESS = ['type', 'baseURL', 'headers']

const isSecretAt = (path: string): boolean => isSecret(path) || path.startsWith('headers.')

/** The settings that are no secrets, and the names of those that are. */
function partsOf(settings: Tree, at = ''): { shown: Tree; secrets: string[] } {
  const shown: Tree = {}
  const secrets: string[] = []
  for (const [name, value] of Object.entries(settings)) {
    const path = at + name
    if (isSecretAt(path)) secrets.push(path)
    else if (isTree(value)) {
      const inner = partsOf(value, `${path}.`)
      shown[name] = inner.shown
      secrets.push(...inner.secrets)
    } else shown[name] = shownAt(path, value)
  }
  return { shown, secrets }
}

/** A provider as `GET /admin/providers` tells it. */
export function storedView({ entry, given, settings, deployment, fault }: ReadProvider): ConfiguredProvider {
  const { id, type } = entry.value as StoredProvider
  const { shown, secrets } = given ? partsOf(given) : { shown: undefined, secrets: [] }
  const key = given?.['apiKey']
  const key_end = typeof key === 'string' ? keyEnd(key) : undefined
  return {
    id,
    ...(fault === undefined ? !deployment && { out: 'disabled' as const } : { out: 'broken' as const, fault }),
    source: 'store',
    type,
    ...(settings && loadOf(settings)),
    entry: entry.name,
    ...(shown && { settings: shown, has_key: secrets.length > 0 }),
    ...(key_end !== undefined && { key_end }),
  }
}

const loadOf = ({ weight, requestsPerMinute, tokensPerMinute }: ProviderSettings) => ({
  ...(weight !== undefined && { weight }),
  ...(requestsPerMinute !== undefined && { requests_per_minute: requestsPerMinute }),
  ...(tokensPerMinute !== undefined && { tokens_per_minute: tokensPerMinute }),
})

/** A provider of the configuration as `GET /admin/providers` tells it. */
export function configuredView(entry: Provider | ProviderSettings, source: ProviderSource): ConfiguredProvider {
  if (isMade(entry)) return { id: entry.id, source }
  const { id = entry.type, type, disabled } = entry
  return { id, ...(disabled && { out: 'disabled' }), source, type, ...loadOf(entry) }
}

/** Where a provider that is not in the store is changed. */
const places: Record<ProviderSource, string> = {
  file: 'in its file, which is read again with SIGHUP',
  environment: 'by the variables of the server, which it reads when it starts',
  program: 'in the program that gives it',
}

/** A body of settings; what they are is checked as in a file. */
const SettingsBody = v.looseObject({
  type: v.pipe(v.string(), v.description('The kind of its API; all settings are those of docs/configuration.md.')),
})
const ChangeBody = v.pipe(
  v.looseObject({}),
  v.description('Settings to change, as in docs/configuration.md; null removes one.'),
)
/** A provider of the store. */
const Answer = v.object({
  ...v.pick(ConfiguredProviders.entries.providers.item, [
    'id',
    'source',
    'type',
    'entry',
    'settings',
    'has_key',
    'key_end',
  ]).entries,
  ...v.pick(ConfiguredProviders.entries.providers.item, ['weight', 'requests_per_minute', 'tokens_per_minute']).entries,
})
const params = v.object({ id: v.string() })

const sizeChecked = (given: Tree): Tree => {
  if (JSON.stringify(given).length > ENTRY_BYTES)
    throw invalid(`The settings of a provider have ${ENTRY_BYTES} bytes at most`)
  return given
}

export function providerRoutes(administered: () => Administered): GatewayRoute[] {
  const answerOf = (providers: ReadProvider[], name: string): v.InferOutput<typeof Answer> => {
    const { out: _, fault: __, ...view } = storedView(providers.find(({ entry }) => entry.name === name)!)
    return view
  }

  /** The stored entry of an id. @throws ApiError 404, or 400 where the id is that of another provider, which says where it is changed */
  const find = ({ entries }: Overlay, id: string): OverlayEntry => {
    const stored = entries.filter(({ kind }) => kind === 'providers')
    const found = stored.find(({ name }) => name === id)
    if (found) return found
    const { config, source } = administered()
    if (config.providers.some((one) => configuredView(one, source).id === id))
      throw invalid(`The provider "${id}" is not in the store: it is changed ${places[source]}`)
    const ofId = stored.filter(({ value }) => (value as StoredProvider).id === id)
    if (ofId.length > 0)
      throw invalid(`"${id}" is called by its entry in the store: ${ofId.map(({ name }) => name).join(', ')}`)
    throw notFound('provider')
  }

  const seal = async (given: Tree): Promise<StoredProvider> => {
    const { type, id = type } = await orInvalid(() => checkedSettings(sizeChecked(given)))
    return { id, type, sealed: await administered().sealing.seal(JSON.stringify(given)) }
  }

  const add = operation({
    id: 'admin.providers.add',
    summary: 'Adds a provider, which is used from now on.',
    access: 'admin',
    body: SettingsBody,
    example: { type: 'groq', apiKey: 'gsk_…', weight: 2 },
    output: Answer,
    async run(caller, { body }) {
      const name = uuidv7()
      const value = await seal(withoutNull(body))
      const by = actorOf(caller)
      const { providers } = await administered().change(() => ({
        kind: 'providers',
        name,
        value,
        action: 'provider.create',
        by,
        detail: value.id,
      }))
      return answerOf(providers, name)
    },
  })

  const change = operation({
    id: 'admin.providers.update',
    summary: 'Changes settings of a provider in the store; its key stays where none is given.',
    access: 'admin',
    params,
    body: ChangeBody,
    example: { weight: 3, disabled: false },
    errors: [404],
    output: Answer,
    async run(caller, { params: { id }, body }) {
      const { providers } = await administered().change(async (overlay) => {
        const entry = find(overlay, id)
        const opened = await administered().sealing.unseal((entry.value as StoredProvider).sealed)
        if (!opened)
          throw invalid(
            'The settings cannot be decrypted, as SESSION_SECRET is another one: remove it, and add it anew',
          )
        const before = JSON.parse(opened.plain) as Tree
        const after = withoutNull({ ...before, ...body })
        // Whoever may change the address must not be sent the key by it.
        const kept = partsOf(before).secrets.filter((path) => !Object.hasOwn(body, path.split('.', 1)[0]!))
        const moved = ADDRESS.filter((setting) => !isDeepStrictEqual(after[setting], before[setting]))
        if (moved.length > 0 && kept.length > 0)
          throw invalid(
            `${moved.join(' and ')}: where its requests go changes, so ${kept.join(', ')} must be given again`,
          )
        if (isDeepStrictEqual(after, before)) return undefined
        const { kind, name } = entry
        const changed = Object.keys(body).filter((setting) => !isDeepStrictEqual(after[setting], before[setting]))
        const detail = changed.join(', ')
        return { kind, name, value: await seal(after), action: 'provider.update', by: actorOf(caller), detail }
      })
      return answerOf(providers, id)
    },
  })

  const remove = operation({
    id: 'admin.providers.remove',
    summary: 'Removes a provider from the store; requests that it serves go on to their end.',
    access: 'admin',
    params,
    errors: [400, 404],
    async run(caller, { params: { id } }) {
      await administered().change((overlay) => {
        const { name, value } = find(overlay, id)
        const detail = (value as StoredProvider).id
        return { kind: 'providers', name, value: null, action: 'provider.delete', by: actorOf(caller), detail }
      })
    },
  })

  const test = operation({
    id: 'admin.providers.test',
    summary: 'Asks a provider that is not added for its list of models, which tells whether it can be reached.',
    access: 'admin',
    body: SettingsBody,
    example: { type: 'groq', apiKey: 'gsk_…' },
    output: ProviderProbe,
    async run(_, { body }) {
      const settings = await orInvalid(() => checkedSettings(sizeChecked(withoutNull(body))))
      const { id, probe } = await administered().probe(settings)
      return probeView(id, probe)
    },
  })

  const options = { convention: true, bodyLimit: ENTRY_BYTES }
  return [
    route('POST', '/admin/providers', add, options),
    route('POST', '/admin/providers/probe', test, options),
    route('PATCH', '/admin/providers/{id}', change, options),
    route('DELETE', '/admin/providers/{id}', remove, { status: 204, convention: true }),
  ]
}
