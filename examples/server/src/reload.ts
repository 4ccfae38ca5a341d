import { statSync } from 'node:fs'
import type { Config } from 'turnpike'
import { findConfig } from 'turnpike'

/** How often a watched file is looked at, in milliseconds. By its state, because editors and mounted volumes replace files. */
const WATCH_MS = 1_000

/** What another content of a file changes; undefined where there is none. */
function stateOf(file: string): string | undefined {
  const found = statSync(file, { throwIfNoEntry: false })
  return found && `${found.ino} ${found.mtimeMs} ${found.size}`
}

/** Calls `reload` on each SIGHUP and, with `server.watch`, after each change of the configuration's file. */
export function onReload({ server }: Config, reload: () => void): void {
  process.on('SIGHUP', reload)
  const file = server.watch ? findConfig(process.env) : undefined
  if (file === undefined) return
  // From now on, while fs.watchFile first looks some time later, and would miss what changes until then.
  let known = stateOf(file)
  let last = known
  setInterval(() => {
    const state = stateOf(file)
    // Who writes it may not have ended.
    const isStill = state === last
    last = state
    if (!isStill || state === known) return
    known = state
    reload()
  }, WATCH_MS).unref()
}
