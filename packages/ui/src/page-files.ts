import { font } from './font.js'
import { MARK } from './mark.js'

/** A file of a page. */
export interface PageFile {
  /** Media type with charset. */
  type: string
  /** A text or bytes, or what makes a text when it is first asked for. */
  body: string | Uint8Array | (() => string)
  cacheControl: string
  /** Of the page itself: how descriptions of the server name it. */
  page?: { id: string; summary: string }
}

const HTML = 'text/html; charset=utf-8'

/** The mark, in the accent of both themes. */
const icon = encodeURIComponent(
  `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 20 20" fill="none" stroke="#0d9488" stroke-width="2"><path d="${MARK}"/></svg>`,
)

const html = (title: string, folder: string, { script, styles }: Bundled, body: string): string => `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>${title}</title>
<link rel="icon" href="data:image/svg+xml,${icon}">
<link rel="preload" href="${folder}/${font.name}" as="font" type="font/woff2" crossorigin>
<link rel="stylesheet" href="${folder}/${styles.name}">
<script type="module" src="${folder}/${script.name}"></script>
${body}
</html>
`

/** A page's script and styles, as `bundledPages` makes them. */
export type Bundled = Record<'script' | 'styles', { name: string; text: string }>

const forever = 'public, max-age=31536000, immutable'

/** A page. */
export interface PageOptions {
  title: string
  /** Names the page in descriptions of the server, such as `admin`. */
  id: string
  /** One sentence for the same descriptions. */
  summary: string
  app: Bundled
  /** Makes its `<body>` when it is first asked for; default an empty one, which the script fills. */
  body?: () => string
}

/**
 * The files of a page by path. The page's links are relative, so that it works wherever it is mounted.
 * @param path where the page is, such as `/admin`
 */
export function pageFiles(path: string, { title, id, summary, app, body }: PageOptions): Record<string, PageFile> {
  const folder = path.slice(path.lastIndexOf('/') + 1)
  const part = (type: string, body: PageFile['body']): PageFile => ({ type, body, cacheControl: forever })
  return {
    [path]: {
      type: HTML,
      body: () => html(title, folder, app, body ? body() : '<body></body>'),
      cacheControl: 'no-cache',
      page: { id, summary },
    },
    [`${path}/${app.script.name}`]: part('text/javascript; charset=utf-8', app.script.text),
    [`${path}/${app.styles.name}`]: part('text/css; charset=utf-8', app.styles.text),
    [`${path}/${font.name}`]: part('font/woff2', font.bytes),
  }
}

/** The headers of every file: a page loads nothing from elsewhere, runs no inline script, makes no HTML of text and is in no frame. */
export const pageHeaders: Record<string, string> = {
  'content-security-policy': [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "font-src 'self'",
    "img-src 'self' data: blob:",
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'self'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
  ].join('; '),
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
}
