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

/** What is said of an event of a task; undefined for most. */
export function lineOf(title: string, event: AgentEvent): string | undefined {
  const said = wordsOf(event)
  return said && plain(`${title}: ${said}`)
}

function wordsOf(event: AgentEvent): string | undefined {
  if (event.type === 'step') return `${event.agent} asks ${event.model}`
  if (event.type === 'call') return `${event.name} ${JSON.stringify(event.args)}`
  if (event.type === 'refused') return event.reason
  if (event.type === 'end') return `${event.status}${'reason' in event ? `, ${event.reason}` : ''}`
  return undefined
}
