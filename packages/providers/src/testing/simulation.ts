/** What the simulated models of all vendors share. @module */
import { randomText } from '../answers/chunk-builder.js'

/** Creates a unique id. */
export const newId = (prefix: string): string => `${prefix}simulated${randomText()}`

/** The simulated number of tokens of a number of characters. */
export const tokensOf = (characters: number): number => Math.ceil(characters / 4)

/** The simulated number of tokens of a text. */
export const tokens = (text: string): number => tokensOf(text.length)

/** Splits a text as vendors do in a stream: one word each, with the space before it. */
export const wordsOf = (text: string): string[] => text.match(/\s*\S+\s*$|\s*\S+/g) ?? []

/** The pieces of a stream, each after `delayMs` milliseconds; with 0, all at once. */
export async function* paced<T>(pieces: Iterable<T>, delayMs: number): AsyncGenerator<T> {
  for (const piece of pieces) {
    if (delayMs > 0) await new Promise((resolve) => setTimeout(resolve, delayMs))
    yield piece
  }
}
