import type { AgentEvent } from '@turnpike/agent'

/**
 * A text that is shown as it is, in one line. Models write what pages tell them: a character that controls the terminal, hides text or reorders it
 * could show another call than the one that is to be allowed.
 */
export const plain = (text: string): string =>
  text.replace(
    /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]|(?! )\p{Zs}/gu,
    (character) => `\\u{${character.codePointAt(0)!.toString(16)}}`,
  )

/** Columns of a line, without what is in front of it. */
const LINE = 70

/** How many characters are sure to fit into a line: others than those of ASCII may take two columns. */
const fitting = (text: string): number => (/[^\x20-\x7e]/.test(text) ? LINE / 2 : LINE)

/** A text in lines that nothing within it looks like, however long it is. @param mark what they begin with */
export function linesOf(text: string, mark = '|'): string {
  const shown = plain(text)
  return shown.replace(new RegExp(`.{1,${fitting(shown)}}`, 'gsu'), `  ${mark} $&\n`)
}

/** A text in one line that looks like no question, cut where it is longer. */
export function cutLine(text: string): string {
  const shown = plain(text)
  const characters = [...shown]
  const most = fitting(shown)
  return `- ${characters.length > most ? `${characters.slice(0, most - 1).join('')}…` : shown}`
}

/** What is said of an event of a task; undefined for most. */
export function lineOf(title: string, event: AgentEvent): string | undefined {
  const said = wordsOf(event)
  return said && cutLine(`${title}: ${said}`)
}

function wordsOf(event: AgentEvent): string | undefined {
  if (event.type === 'step') return `${event.agent} asks ${event.model}`
  if (event.type === 'call') return `${event.name} ${JSON.stringify(event.args)}`
  if (event.type === 'refused') return event.reason
  if (event.type === 'end') return `${event.status}${'reason' in event ? `, ${event.reason}` : ''}`
  return undefined
}
