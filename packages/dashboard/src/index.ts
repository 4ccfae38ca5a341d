import admin from 'page:./page/main.tsx'

/** A file of the dashboard. */
export interface DashboardFile {
  /** Media type with charset. */
  type: string
  body: string
  cacheControl: string
}

const html = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>Turnpike</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="admin/${admin.styles.name}">
<script type="module" src="admin/${admin.script.name}"></script>
<body></body>
</html>
`

const forever = 'public, max-age=31536000, immutable'

/**
 * The files of the dashboard by path: `/admin` is the page. Its links are relative, so that it works wherever the gateway is mounted.
 * It reads the gateway's `/admin` routes with the credentials of its user, and contains no data itself.
 */
export const dashboardFiles: Readonly<Record<string, DashboardFile>> = {
  '/admin': { type: 'text/html; charset=utf-8', body: html, cacheControl: 'no-cache' },
  [`/admin/${admin.script.name}`]: {
    type: 'text/javascript; charset=utf-8',
    body: admin.script.text,
    cacheControl: forever,
  },
  [`/admin/${admin.styles.name}`]: { type: 'text/css; charset=utf-8', body: admin.styles.text, cacheControl: forever },
}

/** The headers of every file: the page loads nothing from elsewhere, runs no inline script, makes no HTML of text and is in no frame. */
export const dashboardHeaders: Readonly<Record<string, string>> = {
  'content-security-policy': [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self' data:",
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
