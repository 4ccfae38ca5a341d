/** What a configuration looks like to people: secrets are not shown. @module */
import type { Config } from './schema.js'
import { isTree } from './tree.js'

/** Settings whose values are shown to nobody. Credentials and headers may be a text, in place of a section. */
const SECRET = /(key|keyId|secrets?|password|token|credentials)$|(^|\.)headers(\.|$)/i

/** Whether the value at a path is a secret, such as `providers[0].apiKey` or `files.secrets[1]`. */
export const isSecret = (path: string): boolean => SECRET.test(path.replace(/\[\d+\]$/, ''))

/**
 * A text without what may be a credential, where it is an address: what stands before its last `@`, as a list of hosts has several and passwords may have
 * any character, and its query, or the JSON of a driver.
 */
function withoutCredentials(text: string): string {
  const query = text.search(/[?#]\S/)
  const [scheme] = /^[\w.+:-]*\/\/|^/.exec(text)!
  const at = text.lastIndexOf('@')
  const hasUser = at > 0 && text.slice(0, at).includes(':')
  if (hasUser && query >= 0 && query < at) return `${scheme}…`
  const address = query < 0 ? text : `${text.slice(0, query)}?…`
  return hasUser ? `${scheme}…${address.slice(at)}` : address
}

/** A value at a path, as it is shown. */
export function shownAt(path: string, value: unknown): unknown {
  if (isSecret(path) && !isTree(value)) return '…'
  if (typeof value === 'string') return withoutCredentials(value)
  if (typeof value === 'function') return 'a function'
  if (Array.isArray(value)) return value.map((item, i) => shownAt(`${path}[${i}]`, item))
  if (isTree(value))
    return Object.fromEntries(
      Object.entries(value).map(([name, item]) => [name, shownAt(path ? `${path}.${name}` : name, item)]),
    )
  return typeof value === 'object' && value !== null ? 'made by code' : value
}

/**
 * A configuration as a file has it, with `…` in place of secrets.
 * @example console.log(shownConfig(await loadConfig(process.env)))
 */
export const shownConfig = (config: Config): object => shownAt('', config) as object
