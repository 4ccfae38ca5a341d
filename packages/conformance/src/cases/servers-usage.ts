import { expectEqual } from '../expect.js'
import type { Json } from '../families/family.js'
import { event } from '../families/family.js'
import { openaiChunk } from '../families/openai.js'
import { usageIn } from '../passed.js'
import { stream, whole } from '../script.js'
import type { Draft } from './define.js'
import { hi } from './define.js'
import { detail, expectUsage, usageSource } from './translation-answers.js'

export const streamed = { ...hi, stream: true, stream_options: { include_usage: true } }
const head = { id: 'chatcmpl-scripted', created: 1_770_000_000, model: 'served' }
const counts = { prompt_tokens: 1000, completion_tokens: 50, total_tokens: 1050 }
export const done = 'data: [DONE]\n\n'

/** An answer of `Hello` in OpenAI's form, with what a server has in the place of `choice` and beside the choices. */
export const completion = (choice: object, beside: object): Json => ({
  ...head,
  object: 'chat.completion',
  choices: [{ index: 0, message: { role: 'assistant', content: 'Hello' }, finish_reason: 'stop', ...choice }],
  usage: counts,
  ...beside,
})

/** The same as a stream, whose end has what the server has of its own. */
const chunks = (choice: object, beside: object): string[] => [
  openaiChunk({ role: 'assistant', content: 'Hel' }),
  openaiChunk({ content: 'lo' }),
  event({
    ...head,
    object: 'chat.completion.chunk',
    choices: [{ index: 0, delta: {}, finish_reason: 'stop', ...choice }],
  }),
  event({ ...head, object: 'chat.completion.chunk', choices: [], usage: counts, ...beside }),
  done,
]

/** Two cases of one answer, whole and as a stream. */
export const both = (name: string, source: string, choice: object, beside: object, check: Draft['check']): Draft[] => [
  { name, source, script: () => whole(completion(choice, beside)), check },
  { name: `${name}, in a stream`, source, request: streamed, script: () => stream(...chunks(choice, beside)), check },
]

interface Counted {
  prompt: number
  completion: number
  cached?: number
  reasoning?: number
}

/** Where servers report what OpenAI has in the details of the usage. */
const usages: [server: string, reference: string, beside: object, counted: Counted][] = [
  [
    'Kimi, Together',
    'Moonshot AI API reference, chat: usage.cached_tokens',
    { usage: { ...counts, cached_tokens: 900 } },
    { prompt: 1000, completion: 50, cached: 900 },
  ],
  [
    'DeepSeek',
    'DeepSeek API reference, chat: usage.prompt_cache_hit_tokens, prompt_cache_miss_tokens',
    { usage: { ...counts, prompt_cache_hit_tokens: 600, prompt_cache_miss_tokens: 400 } },
    { prompt: 1000, completion: 50, cached: 600 },
  ],
  [
    'Mistral',
    'Mistral API reference, chat: usage.num_cached_tokens',
    { usage: { ...counts, num_cached_tokens: 640 } },
    { prompt: 1000, completion: 50, cached: 640 },
  ],
  [
    'llama.cpp',
    'llama.cpp, README of the server: timings.cache_n',
    { usage: counts, timings: { cache_n: 990, prompt_n: 10, predicted_n: 50 } },
    { prompt: 1000, completion: 50, cached: 990 },
  ],
  [
    'SGLang',
    'SGLang, protocol of the server: usage.reasoning_tokens',
    { usage: { ...counts, reasoning_tokens: 30 } },
    { prompt: 1000, completion: 50, reasoning: 30 },
  ],
  [
    'a server with the names of Responses',
    'OpenAI API reference, responses: usage',
    {
      usage: {
        input_tokens: 1000,
        output_tokens: 50,
        total_tokens: 1050,
        input_tokens_details: { cached_tokens: 700 },
        output_tokens_details: { reasoning_tokens: 40 },
      },
    },
    { prompt: 1000, completion: 50, cached: 700, reasoning: 40 },
  ],
]

const counting: Draft[] = usages.flatMap(([server, reference, beside, { prompt, completion, cached, reasoning }]) =>
  both(`the usage of ${server} is told as OpenAI tells it`, `${usageSource}; ${reference}`, {}, beside, (passed) => {
    expectUsage(passed, prompt, completion)
    if (cached !== undefined)
      expectEqual('cached_tokens', detail(passed, 'prompt_tokens_details', 'cached_tokens'), cached)
    if (reasoning !== undefined)
      expectEqual('reasoning_tokens', detail(passed, 'completion_tokens_details', 'reasoning_tokens'), reasoning)
  }),
)

/** Groq's first streams had the usage in a field of its own. */
const groqUsage: Draft = {
  name: 'the usage that Groq reports in x_groq, in a stream',
  source: `${usageSource}; Groq API reference, chat: x_groq.usage`,
  request: streamed,
  script: () =>
    stream(
      openaiChunk({ role: 'assistant', content: 'Hello' }),
      event({
        ...head,
        object: 'chat.completion.chunk',
        choices: [{ index: 0, delta: {}, finish_reason: 'stop' }],
        x_groq: { id: 'req_1', usage: counts },
      }),
      done,
    ),
  check: (passed) => expectEqual('prompt_tokens', usageIn(passed)['prompt_tokens'], 1000),
}

/** Where servers report the usage. */
export const usageDrafts: Draft[] = [...counting, groqUsage]
