import admin from 'page:./page/main.tsx'
import { pageFiles, pageHeaders } from '@turnpike/ui/page-files'

/** A file of the dashboard. */
export interface DashboardFile {
  /** Media type with charset. */
  type: string
  body: string
  cacheControl: string
}

/**
 * The files of the dashboard by path: `/admin` is the page. Its links are relative, so that it works wherever the gateway is mounted.
 * It reads the gateway's `/admin` routes with the credentials of its user, and contains no data itself.
 */
export const dashboardFiles: Readonly<Record<string, DashboardFile>> = pageFiles('/admin', 'Turnpike', admin)

/** The headers of every file, with the Content-Security-Policy. */
export const dashboardHeaders: Readonly<Record<string, string>> = pageHeaders
