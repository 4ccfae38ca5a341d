import { expectThat } from '../expect.js'
import type { Json } from '../families/family.js'
import type { Passed } from '../passed.js'
import { expectError } from '../passed.js'

/** Clients shorten their history where an error has this code or, in LangChain and litellm, these words. */
export function expectTooLong(passed: Passed): void {
  expectError(passed, '4xx', (status) => status >= 400 && status < 500)
  const { code, message } = passed.json!['error'] as Json
  const known = code === 'context_length_exceeded' || /maximum context length/i.test(message as string)
  expectThat('the error', known, 'context_length_exceeded', passed.json)
}
export const tooLongSource =
  'OpenAI API reference, errors: context_length_exceeded, by which clients shorten their history'
