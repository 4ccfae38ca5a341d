import { createInterface } from 'node:readline/promises'
import type { Approve } from '@turnpike/agent'
import { plain } from './lines.js'

/** Columns of a line, without what is in front of it. */
const LINE = 70

/** A call in lines that nothing within it looks like, however long an argument is. */
function linesOf(call: string): string {
  const text = plain(call)
  // Other characters than those of ASCII may take two columns.
  const most = /[^\x20-\x7e]/.test(text) ? LINE / 2 : LINE
  return text.replace(new RegExp(`.{1,${most}}`, 'gsu'), '  | $&\n')
}

/**
 * Asks on the terminal, one call after the other. Without a terminal, what is not allowed is refused.
 * @param allowed tools that are not asked for; answering "always" adds one
 */
export function terminalApproval(allowed: Set<string>): Approve {
  let last: Promise<unknown> = Promise.resolve()
  return ({ name, args }, { signal }) => {
    const asked = last.then(async () => {
      if (allowed.has(name)) return true
      if (!process.stdin.isTTY) return 'nobody is there to allow it'
      signal.throwIfAborted()
      const terminal = createInterface({ input: process.stdin, output: process.stdout })
      try {
        const answer = await terminal.question(
          `${linesOf(`${name} ${JSON.stringify(args)}`)}Allow ${plain(name)}? [y]es, [a]lways, [N]o: `,
          { signal },
        )
        if (answer.startsWith('a')) allowed.add(name)
        return /^[ya]/.test(answer)
      } finally {
        terminal.close()
      }
    })
    last = asked.catch(() => undefined)
    return asked
  }
}
