import { ConfigError } from './config/faults.js'

/** Opens something by its URL; `rest` is what follows the prefix. */
export type Opener<T> = (rest: string, url: string) => Promise<T>

/** The package that an import has not found. */
export const missingPackage = (error: unknown): string | undefined =>
  (error as { code?: unknown } | null)?.code === 'ERR_MODULE_NOT_FOUND'
    ? /^Cannot find package '([^']+)'/.exec((error as Error).message)?.[1]
    : undefined

/**
 * Calls the opener whose prefix the value of a variable begins with.
 * @throws ConfigError that names the package to install, where the opener needs one; Error that names the prefixes, where there is none
 */
export async function openByPrefix<T>(variable: string, value: string, openers: Record<string, Opener<T>>): Promise<T> {
  const [prefix, open] = Object.entries(openers).find(([prefix]) => value.startsWith(prefix)) ?? []
  if (!open) throw new Error(`${variable} begins with one of ${Object.keys(openers).join(' ')}`)
  try {
    return await open(value.slice(prefix!.length), value)
  } catch (error) {
    const name = missingPackage(error)
    if (name === undefined) throw error
    throw new ConfigError([`${variable} at ${prefix} needs the package ${name}: npm install ${name}`], undefined, {
      cause: error,
    })
  }
}
