import { sha256 } from '@turnpike/core/helpers'
import * as v from 'valibot'
import type { Content } from '../answers/content.js'
import type { OpenApiDocument } from '../openapi.js'
import type { Route } from '../operation.js'
import { content, operation, route } from '../operation.js'

/**
 * A route that serves an OpenAPI document, which is generated on the first request.
 * @example openapiRoute('/openapi.json', { access: 'open', summary: 'This document.', document: () => document })
 */
export function openapiRoute<Actor, Access extends string>(
  path: string,
  { access, summary, document }: { access: Access; summary: string; document: () => OpenApiDocument },
): Route<Actor, Access> {
  const make = async (): Promise<Content> => {
    const bytes = new TextEncoder().encode(JSON.stringify(document()))
    return {
      type: 'application/json; charset=utf-8',
      size: bytes.length,
      etag: `"${await sha256(bytes)}"`,
      headers: { 'cache-control': 'no-cache' },
      read: (range) => (range ? bytes.subarray(range.start, range.end + 1) : bytes),
    }
  }
  let made: Promise<Content> | undefined
  return route<Actor, Access>(
    'GET',
    path,
    operation({
      id: 'openapi',
      summary,
      access,
      output: v.looseObject({ openapi: v.string() }),
      stored: true,
      run: async () => content(await (made ??= make())),
    }),
    { convention: true },
  )
}
