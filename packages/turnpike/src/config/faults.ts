import type * as v from 'valibot'
import { isSecret, shownAt } from './shown.js'

/** Names of variables by the path of the value that they give. */
export type Origins = Map<string, string>

/** A configuration that cannot be used. Its message has a line for each fault. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError'
  readonly faults: readonly string[]

  constructor(faults: readonly string[], file?: string, options?: ErrorOptions) {
    super([...(file === undefined ? [] : [`${file} is wrong:`]), ...faults].join('\n'), options)
    this.faults = faults
  }
}

/** Most characters of a value that are shown. */
const LENGTH = 60

/** A value, without the secrets in it; undefined where it is one. */
function shown(path: string, value: unknown): string | undefined {
  if (isSecret(path)) return undefined
  if (typeof value === 'function') return 'a function'
  const text = JSON.stringify(shownAt(path, value)) ?? 'undefined'
  return text.length > LENGTH ? `${text.slice(0, LENGTH)}…` : text
}

type Path = readonly { key: unknown }[]

const pathOf = (path: Path): string =>
  path.reduce((text, { key }) => {
    if (typeof key === 'number') return `${text}[${key}]`
    return text ? `${text}.${String(key)}` : String(key)
  }, '')

/** What stands at a path: as it is written, and not as a transformation has left it. */
const valueAt = (given: unknown, path: Path): unknown =>
  path.reduce<unknown>((tree, { key }) => (tree as Record<PropertyKey, unknown> | undefined)?.[key as string], given)

/** What is wrong with a value. @param name of the setting, or of the variable that gives it */
function sentence(
  path: string,
  { type, expected, message }: v.BaseIssue<unknown>,
  value: unknown,
  name: string,
): string {
  if (type === 'strict_object' && expected === 'never') return `${name} is no setting; ${message}`
  if (value === undefined) return `${name} is missing: it must be ${message}`
  // A text in place of a section may be its secret.
  const isSecretOf = type === 'strict_object' && typeof value === 'string'
  const text = isSecretOf ? undefined : shown(path, value)
  return `${name} must be ${message}${text === undefined ? '' : `, and not ${text}`}`
}

/** Each fault with its path. */
export const describeFaults = (issues: readonly v.BaseIssue<unknown>[], given: unknown, origins: Origins) =>
  issues.map((issue) => {
    const keys = issue.path ?? []
    const section = keys.slice(0, -1)
    if (issue.type === 'strict_object' && Array.isArray(valueAt(given, section))) {
      const path = pathOf(section)
      return { path, text: `${path} must be a section of settings, and not a list` }
    }
    const path = pathOf(keys)
    return { path, text: sentence(path, issue, valueAt(given, keys), origins.get(path) ?? path) }
  })
