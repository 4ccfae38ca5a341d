import { watchFile } from 'node:fs'
import type { Config } from 'turnpike'
import { findConfig } from 'turnpike'

/** How often a watched file is looked at, in milliseconds. By its state, because editors and mounted volumes replace files. */
const WATCH_MS = 1_000

/** Calls `reload` on each SIGHUP and, with `server.watch`, after each change of the configuration's file. */
export function onReload({ server }: Config, reload: () => void): void {
  process.on('SIGHUP', reload)
  const file = server.watch ? findConfig(process.env) : undefined
  if (file !== undefined) watchFile(file, { interval: WATCH_MS, persistent: false }, reload)
}
