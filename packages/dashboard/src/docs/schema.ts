import type { Api, Parameter, Schema } from './document.js'
import { schemaName } from './document.js'
import type { Html } from './html.js'
import { html, print, prose } from './html.js'

/** Marks what the specification does not define. */
export const oursBadge = (part: { 'x-convention'?: boolean }): Html | undefined =>
  part['x-convention'] ? html` <span class="badge amber">ours</span>` : undefined

/** The place of a named schema on the page. */
export const schemaAnchor = ({ name }: Api, schema: string): string => `${name}/schemas/${schema}`

/** A link to a place of the page. */
export const linkTo = (anchor: string): string => `#${encodeURIComponent(anchor).replaceAll('%2F', '/')}`

const variantsOf = (schema: Schema): Schema[] => schema.anyOf ?? schema.oneOf ?? []

/** Types as a union, each once. */
const union = (types: readonly Html[]): Html =>
  html`${[...new Map(types.map((type) => [print(type), type])).values()].map((type, i) => html`${i > 0 && ' | '}${type}`)}`

/** A type in a line, in the notation of TypeScript; named schemas are links. */
export function typeOf(api: Api, schema: Schema): Html {
  const name = schemaName(schema)
  if (name !== undefined) return html`<a href="${linkTo(schemaAnchor(api, name))}">${name}</a>`
  const variants = variantsOf(schema)
  if (variants.length > 0) return union(variants.map((one) => typeOf(api, one)))
  if (schema.const !== undefined) return html`${JSON.stringify(schema.const)}`
  if (schema.enum) return html`${schema.enum.map((value) => JSON.stringify(value)).join(' | ')}`
  if (schema.contentMediaType !== undefined) return html`file`
  if (schema.type === 'array') {
    const item = schema.items ?? {}
    const isUnion = variantsOf(item).length > 1 || (item.enum?.length ?? 0) > 1
    return isUnion ? html`(${typeOf(api, item)})[]` : html`${typeOf(api, item)}[]`
  }
  if (typeof schema.additionalProperties === 'object')
    return html`Record&lt;string, ${typeOf(api, schema.additionalProperties)}&gt;`
  const types = Array.isArray(schema.type) ? schema.type : [schema.type ?? 'any']
  return html`${schema.format ?? types.join(' | ')}`
}

function range(least: number | undefined, most: number | undefined, unit = ''): string | undefined {
  const number = (value: number): string => value.toLocaleString('en')
  const units = unit && ` ${unit}${(most ?? least) === 1 ? '' : 's'}`
  if (least === undefined) return most === undefined ? undefined : `at most ${number(most)}${units}`
  return `${most === undefined ? `at least ${number(least)}` : `${number(least)} to ${number(most)}`}${units}`
}

/** The bounds of a value in words. */
function boundsOf(schema: Schema): (string | Html | undefined)[] {
  const { minimum, maximum, minLength, maxLength, minItems, maxItems, pattern } = schema
  return [
    range(minimum, maximum),
    range(minLength, maxLength, 'character'),
    range(minItems, maxItems, 'item'),
    pattern === undefined ? undefined : html`matches <code class="break">${pattern}</code>`,
    ...variantsOf(schema).flatMap(boundsOf),
  ].filter((part) => part !== undefined)
}

/** The objects in a schema that have no name of their own. */
function objectsIn(schema: Schema): Schema[] {
  if (schema.properties) return [schema]
  const { items, additionalProperties } = schema
  return [
    ...variantsOf(schema),
    ...(items ? [items] : []),
    ...(typeof additionalProperties === 'object' ? [additionalProperties] : []),
  ].flatMap(objectsIn)
}

/** Whether a value is sent, where it says what has to be there, or received, where it says what may be missing. */
export type Direction = 'sent' | 'received'

interface Field {
  name: string
  schema: Schema
  required: boolean
  description: string | undefined
  isOurs: boolean
}

const needs = (required: boolean, direction: Direction): Html | false =>
  direction === 'sent'
    ? required && html`<span class="need">required</span>`
    : !required && html`<span class="small muted">may be missing</span>`

function field(api: Api, { name, schema, required, description, isOurs }: Field, direction: Direction): Html {
  const notes = [...boundsOf(schema), ...(description ? [prose(description)] : [])]
  return html`<li>
    <div class="field-line">
      <code class="name">${name}</code><code class="type">${typeOf(api, schema)}</code>${needs(required, direction)}
      ${oursBadge({ 'x-convention': isOurs })}
    </div>
    ${notes.length > 0 && html`<p class="muted">${notes.map((note, i) => html`${i > 0 && ' · '}${note}`)}</p>`}
    ${objectsIn(schema).map((one) => fieldsOf(api, one, direction, !isOurs && oursBadge(one)))}
  </li>`
}

const list = (fields: Html[], first?: Html | false, last?: Html | false): Html | undefined =>
  fields.length > 0
    ? html`<ul class="fields">
        ${first && html`<li>${first}</li>`}${fields}${last}
      </ul>`
    : undefined

/** The fields of an object, and those of the objects in it. @param first what stands before them */
function fieldsOf(api: Api, schema: Schema, direction: Direction, first?: Html | false): Html | undefined {
  const { properties = {}, required = [], additionalProperties } = schema
  return list(
    Object.entries(properties).map(([name, part]) => {
      const isOurs = part['x-convention'] === true
      const { description } = part
      return field(api, { name, schema: part, required: required.includes(name), description, isOurs }, direction)
    }),
    first,
    additionalProperties === true && html`<li class="muted">and other fields</li>`,
  )
}

/** Parameters, or the headers of an answer. */
export const parameterList = (api: Api, parameters: readonly Parameter[]): Html | undefined =>
  list(
    parameters.map(({ name, schema = {}, required = false, description, ...rest }) =>
      field(api, { name, schema, required, description, isOurs: rest['x-convention'] === true }, 'sent'),
    ),
  )

/** A schema in full: its fields or, where it is no object, its type and the fields of the objects in it. */
export function schemaOf(api: Api, schema: Schema, direction: Direction): Html {
  if (schema.properties)
    return html`${fieldsOf(api, schema, direction) ?? html`<p class="muted">No fields of its own.</p>`}`
  return html`<p>
      <code class="type">${typeOf(api, schema)}</code>
      ${boundsOf(schema).map((note) => html` <span class="muted">${note}</span>`)}
    </p>
    ${objectsIn(schema).map((one) => fieldsOf(api, one, direction, oursBadge(one)))}`
}
