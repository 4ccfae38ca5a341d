/** The operations of OpenAPI documents. */
import { toStringMethod } from 'fast-check'
import type { ApiDocument } from '../support/contract.js'
import type { Schema } from './arbitrary-json.js'

export const roles = ['user', 'developer', 'admin'] as const
export type Role = (typeof roles)[number]

/** How somebody says who they are: an access token, a session cookie or a gateway key. */
export type Credential = 'token' | 'cookie' | 'key'
export const credentials: Credential[] = ['token', 'cookie', 'key']

/** What serves one document. */
export interface Surface {
  /** The path of the document. */
  document: string
  /** Where the paths of the document begin; '' for the root. */
  prefix: string
  /** The value of `error` in the body of an error. */
  error: unknown
  /** What it takes for the security schemes of the document. */
  credentials: Record<string, Credential>
  /** Which of the operations it has; default all. */
  has?(operation: Documented): boolean
}

export interface Parameter {
  name: string
  in: 'path' | 'query' | 'header'
  required?: boolean
  schema: Schema
}

export interface Documented {
  operationId: string
  security: Record<string, object>[]
  parameters?: Parameter[]
  requestBody?: { content: Record<string, { schema: Schema }> }
  responses: Record<string, object>
}

/** An operation of a document. */
export interface Operation {
  surface: Surface
  id: string
  method: string
  path: string
  /** What it takes; all, if it is open to anybody. */
  credentials: Credential[]
  /** Whether it calls an upstream. */
  calls: boolean
  documented: Documented
  /** How reports name it. */
  [toStringMethod](): string
}

/** The operations of a document. */
export const operationsOf = (surface: Surface, document: ApiDocument): Operation[] =>
  Object.entries(document.paths as unknown as Record<string, Record<string, Documented>>).flatMap(([path, methods]) =>
    Object.entries(methods)
      .filter(([, documented]) => surface.has?.(documented) ?? true)
      .map(([method, documented]) => ({
        surface,
        id: `${method.toUpperCase()} ${surface.prefix}${path}`,
        method: method.toUpperCase(),
        path: surface.prefix + path,
        credentials:
          documented.security.length > 0
            ? documented.security.flatMap((schemes) => Object.keys(schemes)).map((name) => surface.credentials[name]!)
            : credentials,
        calls: '502' in documented.responses,
        documented,
        [toStringMethod]: () => `${method} ${path}`,
      })),
  )
