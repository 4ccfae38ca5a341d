import { expectThat } from '../expect.js'
import type { Case, Suite } from '../case.js'
import type { Family, Json, Turn } from '../families/family.js'
import { families, replies } from '../families/index.js'

/** What a case says beyond its suite and family; default is a request of one word, to which the model answers `Hello`. */
export type Draft = Partial<Case> & Pick<Case, 'name' | 'source' | 'check'>

export const user = (content: string | object[]): Json => ({ role: 'user', content })

export const hi = { messages: [user('Hi')] }

/** Completes the cases of one family. */
export const casesOf = (suite: Suite, family: Family, drafts: Draft[]): Case[] =>
  drafts.map((draft) => ({ suite, family, request: hi, script: replies(family, { texts: ['Hello'] }), ...draft }))

/** Completes the cases that are the same in each family. */
export const casesOfEach = (suite: Suite, draft: (family: Family) => Draft[]): Case[] =>
  families.flatMap((family) => casesOf(suite, family, draft(family)))

/** A tool in OpenAI's form. */
export const tool = (name: string, parameters?: object, description = `Looks up the ${name}`): Json => ({
  type: 'function',
  function: { name, description, ...(parameters && { parameters }) },
})

/** Parameters of one text. */
export const city = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] }

export const weather = tool('weather', city)
export const time = tool('time', city)

/** A tool call in an assistant's message in OpenAI's form. */
export const call = (id: string, name: string, args: string): Json => ({
  id,
  type: 'function',
  function: { name, arguments: args },
})

export const textOf = (turn: Turn | undefined): string =>
  (turn?.parts ?? []).flatMap((part) => ('text' in part ? [part.text] : [])).join('\n')

/** Checks that a text contains others, in their order. */
export function expectInOrder(what: string, text: string, parts: string[]): void {
  let at = 0
  for (const part of parts) {
    const found = text.indexOf(part, at)
    expectThat(what, found >= 0, parts.map((one) => JSON.stringify(one)).join(', then '), text)
    at = found + part.length
  }
}
