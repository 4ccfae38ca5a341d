import { curl } from './curl.js'
import type { Operation } from './document.js'
import { typescript } from './typescript.js'

/** What stands for the server's address in a snippet; the page's script puts the real one in its place. */
export const BASE = 'http://127.0.0.1:8787'

/** A piece of code that calls an operation. */
export interface Snippet {
  title: string
  text: string
}

/** How to call an operation: by curl and in TypeScript, also as a stream where it has one. */
export const snippetsOf = (operation: Operation): Snippet[] => [
  { title: 'curl', text: curl(operation, BASE) },
  ...typescript(operation, BASE).map((text, i) => ({ title: i === 0 ? 'TypeScript' : 'TypeScript, streamed', text })),
]
