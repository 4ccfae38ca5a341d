import { sha256 } from '@turnpike/core/internal'
import type { Route } from './operation.js'
import { content, operation, route } from './operation.js'

/** A file that is part of a package, such as a script of a page. */
export interface Asset {
  /** Media type, with `; charset=utf-8` where it is text. */
  type: string
  /** What it contains, or what makes that at the first request. */
  body: string | Uint8Array | (() => string)
  /** Where people open it: the id and the summary that describe it. Absent for its parts, which no description names. */
  page?: { id: string; summary: string }
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
  return Object.entries(assets).map(([path, { type, body, page, cacheControl = 'no-cache' }]) => {
    const make = async () => {
      const made = typeof body === 'function' ? body() : body
      const bytes = typeof made === 'string' ? utf8.encode(made) : made
      return { bytes, etag: `"${(await sha256(bytes)).slice(0, 32)}"` }
    }
    let made: ReturnType<typeof make> | undefined
    const serve = operation({
      ...(page ?? { id: `asset ${path}`, summary: `The file ${path}.` }),
      access,
      contentTypes: [type.split(';')[0]!],
      stored: true,
      async run() {
        const { bytes, etag } = await (made ??= make())
        return content({
          type,
          size: bytes.length,
          etag,
          headers: { 'x-content-type-options': 'nosniff', 'cache-control': cacheControl, ...headers },
          read: (range) => (range ? bytes.subarray(range.start, range.end + 1) : bytes),
        })
      },
    })
    return route('GET', path, serve, { convention: true, listed: page !== undefined })
  })
}
