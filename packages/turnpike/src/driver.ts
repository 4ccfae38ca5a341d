import type { Driver, StorageLike } from '@turnpike/storage'

/** Opens `NAME?{json}`: an unstorage driver and its options. */
export async function openDriver(text: string): Promise<StorageLike & Driver> {
  const { builtinDrivers } = await import('unstorage')
  const [, name = '', json = '{}'] = /^([^?]*)(?:\?(.*))?$/s.exec(text) ?? []
  const path = (builtinDrivers as Record<string, string>)[name]
  if (path === undefined)
    throw new Error(`unstorage has no driver "${name}", but ${Object.keys(builtinDrivers).toSorted().join(', ')}`)
  const { default: create } = (await import(path)) as { default: (options: object) => StorageLike & Driver }
  return create(JSON.parse(json) as object)
}
