/** A file of a page. */
export interface PageFile {
  /** Media type with charset. */
  type: string
  body: string
  cacheControl: string
}

const HTML = 'text/html; charset=utf-8'

const html = (title: string, folder: string, { script, styles }: Bundled): string => `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>${title}</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="${folder}/${styles.name}">
<script type="module" src="${folder}/${script.name}"></script>
<body></body>
</html>
`

/** A page's script and styles, as `bundledPages` makes them. */
export type Bundled = Record<'script' | 'styles', { name: string; text: string }>

const forever = 'public, max-age=31536000, immutable'

/**
 * The files of a page by path. The page's links are relative, so that it works wherever it is mounted.
 * @param path where the page is, such as `/admin`
 */
export function pageFiles(path: string, title: string, app: Bundled): Record<string, PageFile> {
  const folder = path.slice(path.lastIndexOf('/') + 1)
  return {
    [path]: { type: HTML, body: html(title, folder, app), cacheControl: 'no-cache' },
    [`${path}/${app.script.name}`]: {
      type: 'text/javascript; charset=utf-8',
      body: app.script.text,
      cacheControl: forever,
    },
    [`${path}/${app.styles.name}`]: { type: 'text/css; charset=utf-8', body: app.styles.text, cacheControl: forever },
  }
}

/** The headers of every file: a page loads nothing from elsewhere, runs no inline script, makes no HTML of text and is in no frame. */
export const pageHeaders: Record<string, string> = {
  'content-security-policy': [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
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
