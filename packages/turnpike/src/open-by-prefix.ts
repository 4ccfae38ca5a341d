/** Opens something by its URL; `rest` is what follows the prefix. */
export type Opener<T> = (rest: string, url: string) => Promise<T>

/** Calls the opener whose prefix the value of a variable begins with. @throws Error that names the prefixes, where there is none */
export function openByPrefix<T>(variable: string, value: string, openers: Record<string, Opener<T>>): Promise<T> {
  const [prefix, open] = Object.entries(openers).find(([prefix]) => value.startsWith(prefix)) ?? []
  if (!open) throw new Error(`${variable} begins with one of ${Object.keys(openers).join(' ')}`)
  return open(value.slice(prefix!.length), value)
}
