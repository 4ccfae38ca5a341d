/** What an overlay comes to. What of it cannot be used is left out, and told. @module */
import type { KV, PriceRow, Provider } from '@turnpike/core'
import { fixedPrices, parsePrice, priceTable } from '@turnpike/core'
import type { Sealing } from '@turnpike/platform'
import type { Group as RouterGroup } from '@turnpike/providers'
import { createRouter } from '@turnpike/providers'
import * as v from 'valibot'
import { describeFaults } from '../config/faults.js'
import type { ProviderSettings } from '../config/providers.js'
import { ProviderEntry } from '../config/providers.js'
import { NamedGroups } from '../config/routing.js'
import type { Tree } from '../config/tree.js'
import type { ProviderMaker } from '../providers.js'
import type { Kind, Overlay, OverlayEntry, StoredProvider } from './store.js'
import { rewrite } from './store.js'

/** An entry, and why it cannot be used. */
interface Read {
  entry: OverlayEntry
  fault?: string
}
export interface ReadProvider extends Read {
  /** As they were given; absent where they cannot be decrypted. */
  given?: Tree
  /** Whether they are encrypted with the first secret. */
  isCurrent?: boolean
  settings?: ProviderSettings
  /** What the router is given; absent where it is disabled or cannot be used. */
  deployment?: NonNullable<Awaited<ReturnType<ProviderMaker['make']>>>
}
export interface ReadGroup extends Read {
  group?: RouterGroup
}
export interface ReadPrice extends Read {
  row?: PriceRow
}

/** What entries of each kind come to. */
export interface ReadOverlay {
  providers: ReadProvider[]
  groups: ReadGroup[]
  prices: ReadPrice[]
}

/** A router needs a provider, also where all of them are disabled or broken. This one has no models. */
export const nobody: Provider = { id: 'none', models: async () => [] }

/** What a router is made of that only checks what it is given: the built-in prices would take most of its time. */
export const trial = { providers: [nobody], prices: fixedPrices(priceTable({})) }

const UNREADABLE = 'its settings cannot be decrypted: SESSION_SECRET is another one'

/** Checks a value as a file's. @throws Error with all that is wrong, without secrets */
function checked<S extends v.GenericSchema>(schema: S, given: unknown): v.InferOutput<S> {
  const result = v.safeParse(schema, given)
  if (result.success) return result.output
  throw new Error(
    describeFaults(result.issues, given, new Map())
      .map(({ text }) => text)
      .join('; '),
  )
}

/** Settings of a provider that come over HTTP. They name no file of this machine. @throws Error with all that is wrong, without secrets */
export function checkedSettings(given: Tree): ProviderSettings {
  const settings = checked(ProviderEntry, given) as ProviderSettings
  const { credentials } = settings as { credentials?: unknown }
  if (typeof credentials === 'string' && !/^\s*\{/.test(credentials))
    throw new Error('credentials must be the key of the service account itself, and not the path of its file')
  // Settings are shown, but for secrets.
  const { username = '', password = '' } = settings.baseURL === undefined ? {} : new URL(settings.baseURL)
  if (username || password) throw new Error('baseURL must be without credentials: apiKey is for them')
  return settings
}

/** A group that is given as a section. @throws Error with all that is wrong */
export function checkedGroup(name: string, given: unknown): RouterGroup {
  const group = checked(NamedGroups, { [name]: given })[name] as RouterGroup | undefined
  // Not all names can be those of settings, such as `__proto__`.
  if (!group?.models) throw new Error(`"${name}" cannot be the name of a group`)
  createRouter({ ...trial, groups: { [name]: group } })
  return group
}

/** What `read` makes of an entry, or why it cannot. */
async function attempt<T extends object>(entry: OverlayEntry, read: () => T | Promise<T>): Promise<Read & Partial<T>> {
  try {
    return { entry, ...(await read()) }
  } catch (error) {
    return { entry, fault: (error as Error).message } as Read & Partial<T>
  }
}

async function readProvider(entry: OverlayEntry, sealing: Sealing, { make }: ProviderMaker): Promise<ReadProvider> {
  const opened = await sealing.unseal((entry.value as StoredProvider).sealed)
  if (!opened) return { entry, fault: UNREADABLE }
  const given = JSON.parse(opened.plain) as Tree
  const read = await attempt(entry, async () => {
    const settings = checkedSettings(given)
    const deployment = await make(settings)
    // Whatever a router would refuse of it.
    if (deployment) createRouter({ ...trial, providers: [deployment] })
    return { settings, ...(deployment && { deployment }) }
  })
  return { ...read, given, isCurrent: opened.isCurrent }
}

/** @param groups those of the configuration, which prevail */
export async function readEntries(
  { entries }: Overlay,
  { sealing, maker, groups }: { sealing: Sealing; maker: ProviderMaker; groups: object },
): Promise<ReadOverlay> {
  // By name, which of providers is the order in which they were made: the same in all processes, as deployments are counted by it.
  const of = (kind: Kind) =>
    entries.filter((entry) => entry.kind === kind).toSorted((a, b) => (a.name < b.name ? -1 : 1))
  const providers: ReadProvider[] = []
  for (const entry of of('providers')) providers.push(await readProvider(entry, sealing, maker))
  return {
    providers,
    groups: await Promise.all(
      of('groups').map((entry) =>
        attempt(entry, () => {
          if (Object.hasOwn(groups, entry.name)) throw new Error(inConfiguration(entry.name))
          return { group: checkedGroup(entry.name, entry.value) }
        }),
      ),
    ),
    prices: await Promise.all(of('prices').map((entry) => attempt(entry, () => ({ row: parsePrice(entry.value) })))),
  }
}

/** Why a group cannot be in the store. */
export const inConfiguration = (name: string): string =>
  `the configuration has a group "${name}" (routing.groups, MODEL_GROUPS), which prevails and is changed there`

/** What of an overlay is left out, in sentences. */
export const faultsOf = ({ providers, groups, prices }: ReadOverlay): string[] =>
  [...providers, ...groups, ...prices].flatMap(({ entry: { kind, name, value }, fault }) => {
    if (fault === undefined) return []
    const what = { providers: 'provider', groups: 'group', prices: 'price' }[kind]
    const shown = kind === 'providers' ? `${(value as StoredProvider).id} (${name})` : name
    return `The ${what} ${shown} of the store is left out: ${fault}`
  })

/** Tells what is left out, and was not before. */
export function tellFaults(read: ReadOverlay, before?: ReadOverlay): void {
  const told = before ? faultsOf(before) : []
  for (const fault of faultsOf(read)) if (!told.includes(fault)) console.error(fault)
}

/** Encrypts with the first secret what is encrypted with another one, which can then be dropped. */
export async function reseal(kv: KV, { read, sealing }: { read: ReadOverlay; sealing: Sealing }): Promise<void> {
  for (const { entry, given, isCurrent } of read.providers)
    if (given && !isCurrent) {
      const sealed = await sealing.seal(JSON.stringify(given))
      await rewrite(kv, entry, { ...(entry.value as StoredProvider), sealed })
    }
}
