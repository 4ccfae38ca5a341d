import admin from 'page:./page/main.tsx'
import { pageFiles, pageHeaders } from '@turnpike/ui/page-files'

/** A file of a page. */
export interface DashboardFile {
  /** Media type with charset. */
  type: string
  /** A text or bytes, or what makes a text when it is first asked for. */
  body: string | Uint8Array | (() => string)
  cacheControl: string
  /** Of the page itself: how descriptions of the server name it. Its parts have none. */
  page?: { id: string; summary: string }
}

/**
 * The files of the dashboard by path: `/admin` is the page. Its links are relative, so that it works wherever the gateway is mounted.
 * It reads the gateway's `/admin` routes with the credentials of its user, and contains no data itself.
 */
export const dashboardFiles: Readonly<Record<string, DashboardFile>> = pageFiles('/admin', {
  title: 'Turnpike',
  id: 'admin',
  summary: 'The dashboard of administrators, a page without data of its own.',
  app: admin,
})

/** The headers of every file, with the Content-Security-Policy. */
export const dashboardHeaders: Readonly<Record<string, string>> = pageHeaders
