import { invalid } from '@turnpike/core/internal'
import type { BaseIssue, GenericSchema } from 'valibot'
import { getDotPath, safeParse } from 'valibot'
import { faultOf } from './fault.js'
import type { Route } from './operation.js'

/** The field of the schema that an issue is in, such as `messages[3]`. Names that are deeper, or that the schema does not have, may be content. */
function fieldOf(schema: GenericSchema, { path }: BaseIssue<unknown>): string | undefined {
  const { entries = {} } = schema as GenericSchema & { entries?: object }
  const [field, index] = path ?? []
  if (typeof field?.key !== 'string' || !Object.hasOwn(entries, field.key)) return undefined
  return typeof index?.key === 'number' ? `${field.key}[${index.key}]` : field.key
}

/**
 * Parses with a schema.
 * @throws ApiError 400, a sentence that begins with the name of the field and says what is wrong there
 * @example const { name } = parse(v.object({ name: v.string() }), await request.json(), 'body') as { name: string }
 */
export function parse(schema: GenericSchema, input: unknown, what: string): unknown {
  // valibot takes an array for an object.
  if (Array.isArray(input) && schema.type.endsWith('object'))
    throw invalid(`The ${what} must be an object, not an array`)
  const result = safeParse(schema, input, { abortEarly: true })
  if (result.success) return result.output
  const [issue] = result.issues as [BaseIssue<unknown>]
  throw invalid(`${getDotPath(issue) ?? `The ${what}`} ${faultOf(issue)}`, { field: fieldOf(schema, issue) })
}

/** Gives fields of a body the names of `aliases`, where there is no field of that name. */
function rename(body: unknown, aliases: Readonly<Record<string, string>>): void {
  if (typeof body !== 'object' || body === null) return
  const fields = body as Record<string, unknown>
  for (const [alias, name] of Object.entries(aliases))
    if (Object.hasOwn(fields, alias) && !Object.hasOwn(fields, name)) fields[name] = fields[alias]
}

/** @throws ApiError 400 for a body with a field that would have no effect */
function refuse(body: unknown, elsewhere: Readonly<Record<string, string>>): void {
  if (typeof body !== 'object' || body === null) return
  for (const [field, instead] of Object.entries(elsewhere))
    if (Object.hasOwn(body, field)) throw invalid(`${field}: ${instead}`, { field })
}

/** Gives the fields of a body or form their names, and validates them. @throws ApiError 400 */
export function checkBody({ aliases, elsewhere, body, form }: Route['operation'], input: unknown): void {
  if (elsewhere) refuse(input, elsewhere)
  if (aliases) rename(input, aliases)
  if (body) parse(body, input, form ? 'form' : 'request body')
}
