import { signal } from '@preact/signals'
import { ago, time } from '../format.js'

/** The time for all times on the page. */
const now = signal(Date.now())
setInterval(() => (now.value = Date.now()), 30_000)

/** A time of ISO 8601 as people say it, such as `3 min ago`; the exact one is its title. */
export const Ago = ({ at }: { at: string }) => (
  <time dateTime={at} title={time(at, new Date(0))}>
    {ago(at, now.value)}
  </time>
)
