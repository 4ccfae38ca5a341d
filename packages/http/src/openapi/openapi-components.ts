import type { GenericSchema } from 'valibot'
import type { Component } from './openapi-schemas.js'

/**
 * A schema of the specification, with the fields that it defines, separated by spaces; all others are marked as ours.
 * @example const schema = shown(v.object({ id: v.string() }), 'id')
 */
export const shown = (schema: GenericSchema, fields?: string): Component => ({
  schema,
  shown: fields?.split(' ') ?? [],
})

/**
 * A schema that the specification does not have, or has without fields.
 * @example const schema = ours(v.object({ id: v.string() }))
 */
export const ours = (schema: GenericSchema): Component => ({ schema })

/** Descriptions of the error statuses that mean the same on every surface. */
export const commonStatuses: Record<number, string> = {
  400: 'Invalid request body or parameters.',
  403: 'The caller lacks permission for the resource.',
  404: 'Resource not found.',
  408: 'The request body stood still.',
  413: 'The request body is too large.',
  412: 'The stored bytes are not those that the request demands.',
  416: 'The range begins after the last byte.',
  429: 'Rate limit exceeded.',
  500: 'Internal server error.',
}
