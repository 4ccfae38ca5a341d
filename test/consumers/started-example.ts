import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { freePort } from '../support/free-port.js'
import { npxEnvironment } from '../support/runtime.js'

/** An example that runs. */
export interface Started {
  url: string
  /** What is printed behind these words, such as `Gateway key: `. */
  printed(words: string): string
  stop(): Promise<void>
}

/** What the tests of an example must not hand on to it. */
const own = /^(OPENAI_|ANTHROPIC_|GEMINI_|VITEST|NODE_ENV$|NODE_OPTIONS$|npm_)/

/** The first command that the README of an example shows. */
const commandOf = (clone: string, name: string): string => {
  const readme = readFileSync(join(clone, 'examples', name, 'README.md'), 'utf8')
  return /^```sh\n(.*)$/m.exec(readme)![1]!
}

/**
 * Runs an example by the command of its README, in the root of a clone.
 * @param path that is answered once it serves
 * @param words that are printed before its secret
 */
export async function startExample(clone: string, name: string, path: string, words: string): Promise<Started> {
  const port = await freePort()
  const kept = Object.entries(npxEnvironment()).filter(([variable]) => !own.test(variable))
  const env = { ...Object.fromEntries(kept), PORT: String(port), NEXT_TELEMETRY_DISABLED: '1' }
  // A group of its own, because npm does not hand every signal on.
  const child = spawn('bash', ['-c', commandOf(clone, name)], { cwd: clone, env, detached: true })
  const closed = once(child, 'close')
  let output = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (text) => (output += text))
  const printed = (before: string): string => new RegExp(`${before}(\\S+)`).exec(output)?.[1] ?? ''
  const hasEnded = (): boolean => child.exitCode !== null || child.signalCode !== null
  const stop = async (): Promise<void> => {
    if (!hasEnded()) process.kill(-child.pid!, 'SIGKILL')
    await closed
  }
  const url = `http://127.0.0.1:${port}`
  try {
    while (!printed(words) || !(await fetch(url + path).catch(() => undefined))) {
      if (hasEnded()) throw new Error(`${name} has ended:\n${output}`)
      await delay(50)
    }
  } catch (error) {
    await stop()
    throw error
  }
  return { url, printed, stop }
}
