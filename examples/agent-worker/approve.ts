import { createInterface } from 'node:readline/promises'
import type { Approve } from '@turnpike/agent'
import { linesOf, plain } from './lines.js'

/** What people see of the work, and are asked. */
export interface Terminal {
  approve: Approve
  /** Prints a line; one that comes while a question is asked, after the answer, so that nothing stands below a question but that. */
  say(line: string): void
}

/**
 * Asks on the terminal, one call after the other. Without a terminal, what is not allowed is refused.
 * @param allowed tools that are not asked for; answering "always" adds one
 */
export function terminalOf(allowed: Set<string>): Terminal {
  let last: Promise<unknown> = Promise.resolve()
  let isAsking = false
  let waiting: string[] = []
  const ask = async (call: string, name: string, signal: AbortSignal): Promise<string> => {
    const terminal = createInterface({ input: process.stdin, output: process.stdout })
    isAsking = true
    try {
      return await terminal.question(`${linesOf(call)}Allow ${plain(name)}? [y]es, [a]lways, [N]o: `, { signal })
    } finally {
      terminal.close()
      isAsking = false
      for (const line of waiting) console.log(line)
      waiting = []
    }
  }
  return {
    approve({ name, args }, { signal }) {
      const asked = last.then(async () => {
        if (allowed.has(name)) return true
        if (!process.stdin.isTTY) return 'nobody is there to allow it'
        signal.throwIfAborted()
        const answer = await ask(`${name} ${JSON.stringify(args)}`, name, signal)
        if (answer.startsWith('a')) allowed.add(name)
        return /^[ya]/.test(answer)
      })
      last = asked.catch(() => undefined)
      return asked
    },
    say(line) {
      if (isAsking) waiting.push(line)
      else console.log(line)
    },
  }
}
