import { errorIn, PlatformError } from './errors.js'

/** The path of a request. @throws TypeError for a parameter that is missing or would lead to another path */
export function pathOf(template: string, params: Record<string, string> = {}): string {
  return template.replace(/\{(\w+)\}/g, (_, name: string) => {
    const value = params[name]
    if (value === undefined || /^\.{0,2}$/.test(value)) throw new TypeError(`${template} needs the parameter ${name}`)
    return encodeURIComponent(value)
  })
}

/** The query with its question mark; '' where there is none. */
export function queryOf(query: object = {}): string {
  const given = Object.entries(query).filter(([, value]) => value !== undefined)
  const text = new URLSearchParams(given.map(([name, value]): [string, string] => [name, String(value)])).toString()
  return text && `?${text}`
}

/** The body of an answer that succeeded. */
export async function bodyOf(response: Response): Promise<unknown> {
  if (response.status === 204) return undefined
  const isJson = response.headers.get('content-type')?.startsWith('application/json')
  return isJson ? response.json() : response.blob()
}

/** The `after` of the page that a list's `Link` leads to. */
export function nextOf({ headers }: Response): string | undefined {
  const links = (headers.get('link') ?? '').split(',')
  const next = links.map((link) => /^ *<([^<>]*)>; *rel="next"$/.exec(link)?.[1]).find((url) => url !== undefined)
  return new URLSearchParams(next?.slice(next.indexOf('?'))).get('after') ?? undefined
}

/** The data of an event. @throws PlatformError for an error event and for what is no JSON */
export function eventOf(data: string, response: Response): unknown {
  let value: unknown
  try {
    value = JSON.parse(data)
  } catch {
    // Its message would have the text.
    throw new PlatformError(response, { message: 'An event of the stream is no JSON', code: 'stream_invalid' })
  }
  const error = errorIn(response, value)
  if (error) throw error
  return value
}
