import { sha256 } from '@turnpike/core/helpers'
import type { Route } from '../operation.js'
import { content, operation, route } from '../operation.js'
import { isByOtherPage } from '../same-origin.js'

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

async function gzip(bytes: Uint8Array): Promise<Uint8Array> {
  const { readable, writable } = new CompressionStream('gzip')
  const writer = writable.getWriter()
  const [zipped] = await Promise.all([new Response(readable).arrayBuffer(), writer.write(bytes), writer.close()])
  return new Uint8Array(zipped)
}

/** Whether a client takes gzip (RFC 9110, section 12.5.3); `gzip;q=0` refuses it. */
const takesGzip = (accepted = ''): boolean =>
  accepted.split(',').some((item) => {
    const [coding, weight = 'q=1'] = item.split(';')
    return coding!.trim().toLowerCase() === 'gzip' && Number(weight.trim().slice(2)) > 0
  })

/**
 * A GET route for each of a package's files, with an entity tag. A page that one of another site has opened has `Server-Timing: other-site`. Texts are compressed, once, for clients that take gzip.
 * @param assets by path, such as `/admin/app.js`
 * @param options.access the surface's kind of access that anybody has
 * @param options.headers added to each answer, such as a Content-Security-Policy
 * @example const routes = assetRoutes({ '/logo.svg': { body: svg, type: 'image/svg+xml' } }, { access: 'open' })
 */
export function assetRoutes<Access extends string>(
  assets: Readonly<Record<string, Asset>>,
  { access, headers = {} }: { access: Access; headers?: Record<string, string> },
): Route<unknown, Access>[] {
  return Object.entries(assets).map(([path, { type, body, page, cacheControl = 'no-cache' }]) => {
    const isText = !(body instanceof Uint8Array)
    const make = async () => {
      const made = typeof body === 'function' ? body() : body
      const bytes = typeof made === 'string' ? utf8.encode(made) : made
      const tag = (await sha256(bytes)).slice(0, 32)
      return {
        plain: { bytes, etag: `"${tag}"` },
        zipped: isText && { bytes: await gzip(bytes), etag: `"${tag}-gzip"` },
      }
    }
    let made: ReturnType<typeof make> | undefined
    const serve = operation({
      ...(page ?? { id: `asset ${path}`, summary: `The file ${path}.` }),
      access,
      contentTypes: [type.split(';')[0]!],
      stored: true,
      async run(_, __, call) {
        const { plain, zipped } = await (made ??= make())
        const isZipped = zipped && takesGzip(call.header('accept-encoding'))
        const { bytes, etag } = isZipped ? zipped : plain
        return content({
          type,
          size: bytes.length,
          etag,
          headers: {
            'cache-control': cacheControl,
            ...(zipped && { vary: 'accept-encoding' }),
            ...(isZipped && { 'content-encoding': 'gzip' }),
            // Its script asks whether a page of another site has opened it, which the headers of a request alone tell.
            ...(page && isByOtherPage(call) && { 'server-timing': 'other-site' }),
            ...headers,
          },
          read: (range) => (range ? bytes.subarray(range.start, range.end + 1) : bytes),
        })
      },
    })
    return route('GET', path, serve, { convention: true, listed: page !== undefined })
  })
}
