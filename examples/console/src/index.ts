import app from 'page:./main.tsx'
import { pageFiles, pageHeaders } from '@turnpike/ui/page-files'

/** The files of the console by path: `/console` is the page. They contain no data; the page reads it as whoever signs in. */
export const consoleFiles = pageFiles('/console', {
  title: 'Turnpike',
  id: 'console',
  summary: 'The web console of the platform, a page without data of its own.',
  app,
})

/** The headers of every file, with the Content-Security-Policy. */
export const consoleHeaders = pageHeaders
