import script from 'page:./docs/page/main.ts'
import { pageFiles, pageHeaders } from '@turnpike/ui/page-files'
import type { ApiDocuments } from './docs/document.js'
import { docsBody } from './docs/page.js'
import type { DashboardFile } from './index.js'

export type { ApiDocument, ApiDocuments } from './docs/document.js'
export type { DashboardFile } from './index.js'

/**
 * The files of the documentation of an API by path: `/docs` is the page, which is made from OpenAPI 3.1 documents when it is first asked for.
 * It is readable without its script. Its links are relative, so that it works wherever it is mounted.
 * @param documents returns them by a short name, which tells operations of one id apart
 * @example docsFiles(() => ({ gateway: gatewayDocument(gateway.routes) }))
 */
export const docsFiles = (documents: () => ApiDocuments): Readonly<Record<string, DashboardFile>> =>
  pageFiles('/docs', {
    title: 'API · Turnpike',
    id: 'docs',
    summary: 'The documentation of the API, as a page.',
    app: script,
    body: () => docsBody(documents()),
  })

/** The headers of every file, with the Content-Security-Policy. */
export const docsHeaders: Readonly<Record<string, string>> = pageHeaders
