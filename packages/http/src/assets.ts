import { sha256 } from '@turnpike/core/internal'
import type { Route } from './operation.js'
import { content, operation, route } from './operation.js'

/** A file that is part of a package, such as a script of a page. */
export interface Asset {
  /** Media type, with `; charset=utf-8` where it is text. */
  type: string
  body: string | Uint8Array
  /** Default `no-cache`: kept, and asked for again with its tag. For names that change with the bytes: `public, max-age=31536000, immutable`. */
  cacheControl?: string
}

const utf8 = new TextEncoder()

/**
 * A GET route for each of a package's files, with an entity tag.
 * @param assets by path, such as `/admin/app.js`
 * @param options.access the surface's kind of access that anybody has
 * @param options.headers added to each answer, such as a Content-Security-Policy
 */
export function assetRoutes<Access extends string>(
  assets: Readonly<Record<string, Asset>>,
  { access, headers = {} }: { access: Access; headers?: Record<string, string> },
): Route<unknown, Access>[] {
  return Object.entries(assets).map(([path, { type, body, cacheControl = 'no-cache' }]) => {
    const bytes = typeof body === 'string' ? utf8.encode(body) : body
    let hash: Promise<string> | undefined
    const serve = operation({
      id: `asset ${path}`,
      summary: `The file ${path}.`,
      access,
      async run() {
        const etag = `"${(await (hash ??= Promise.resolve(sha256(bytes)))).slice(0, 32)}"`
        return content({
          type,
          size: bytes.length,
          etag,
          headers: { 'x-content-type-options': 'nosniff', 'cache-control': cacheControl, ...headers },
          read: (range) => (range ? bytes.subarray(range.start, range.end + 1) : bytes),
        })
      },
    })
    return route('GET', path, serve, { convention: true })
  })
}
