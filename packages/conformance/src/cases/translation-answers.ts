import { gzipSync } from 'node:zlib'
import { expectEqual } from '../expect.js'
import type { Reply } from '../families/family.js'
import { replies } from '../families/index.js'
import { openai } from '../families/openai.js'
import type { Passed } from '../passed.js'
import { choiceOf, usageIn } from '../passed.js'
import type { Draft } from './define.js'
import { casesOf, casesOfEach } from './define.js'

export const finishSource = 'OpenAI API reference, chat completion object: finish_reason'
export const usageSource = 'OpenAI API reference, chat completion object: usage'

/** Checks the usage, whose parts add up to its total. */
export const expectUsage = (passed: Passed, prompt: number, completion: number): void => {
  const { prompt_tokens, completion_tokens, total_tokens } = usageIn(passed)
  const expected = { prompt_tokens: prompt, completion_tokens: completion, total_tokens: prompt + completion }
  expectEqual('the usage', { prompt_tokens, completion_tokens, total_tokens }, expected)
}

/** A count in the details of the usage. */
export const detail = (passed: Passed, group: string, name: string): unknown =>
  (usageIn(passed)[group] as Record<string, unknown> | undefined)?.[name]

/** How answers that are not streamed reach the client. */
export const answerCases = [
  ...casesOfEach('translation', (family) => {
    const ends = (name: string, reply: Reply, finish: string): Draft => ({
      name,
      source: finishSource,
      script: replies(family, reply),
      check: (passed) => expectEqual('finish_reason', choiceOf(passed).finish, finish),
    })
    return [
      ends('a complete answer ends with stop', { texts: ['Hello'] }, 'stop'),
      ends('an answer at its limit ends with length', { texts: ['Hel'], finish: 'length' }, 'length'),
      ends('a withheld answer ends with content_filter', { texts: ['I'], finish: 'content_filter' }, 'content_filter'),
      {
        name: 'a compressed answer is read',
        source: 'RFC 9110, HTTP semantics: Accept-Encoding, Content-Encoding',
        script: (sent) => {
          const answer = replies(family, { texts: ['Hello'] })(sent)
          if (!sent.headers['accept-encoding']?.includes('gzip')) return answer
          const headers = { ...answer.headers, 'content-encoding': 'gzip' }
          return { ...answer, headers, steps: [gzipSync(answer.steps.join(''))] }
        },
        check: (passed) => expectEqual('the content', choiceOf(passed).content, 'Hello'),
      },
      {
        name: 'the usage is that of the vendor',
        source: usageSource,
        script: replies(family, { texts: ['Hello'], usage: { prompt: 21, completion: 8 } }),
        check: (passed) => expectUsage(passed, 21, 8),
      },
      {
        name: 'cached tokens are part of the prompt',
        source: `${usageSource}: prompt_tokens_details.cached_tokens`,
        script: replies(family, { texts: ['Hello'], usage: { prompt: 1200, completion: 8, cached: 1000 } }),
        check(passed) {
          expectUsage(passed, 1200, 8)
          expectEqual('cached_tokens', detail(passed, 'prompt_tokens_details', 'cached_tokens'), 1000)
        },
      },
    ]
  }),
  ...casesOf('translation', openai, [
    {
      name: 'reasoning tokens are part of the completion',
      source: `${usageSource}: completion_tokens_details.reasoning_tokens`,
      script: replies(openai, { texts: ['Hello'], usage: { completion: 60, reasoning: 50 } }),
      check(passed) {
        expectUsage(passed, 9, 60)
        expectEqual('reasoning_tokens', detail(passed, 'completion_tokens_details', 'reasoning_tokens'), 50)
      },
    },
  ]),
]
