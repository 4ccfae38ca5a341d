import type { Refusal } from './openai-refusals.js'
import { refuse } from './openai-refusals.js'
import type { Json } from './rules.js'
import { words } from './rules.js'

/** What a model of OpenAI takes on Chat Completions. */
interface Rules {
  /** The efforts that it takes; absent = it does not reason. */
  efforts?: string
  /** The effort of a request without one; default `medium`. */
  preset?: string
  /** Whether sampling parameters are taken beside the effort `none`; default no. */
  sampling?: true
  /** Parameters that it refuses, whatever the effort. */
  refuses?: string
  /** Whether function tools are refused beside any effort but `none`; default no. */
  tools?: false
}

const penalties = 'frequency_penalty presence_penalty'
const strict = `${penalties} prediction`

/** The models of November 2026, by the beginning of their ids; the first that matches. Sources: those of openai/parameters.ts. */
const models: [id: RegExp, rules: Rules][] = [
  [
    /search-(preview|api)/,
    { refuses: `temperature top_p n logprobs top_logprobs logit_bias parallel_tool_calls ${strict}` },
  ],
  [/^o(1|3-mini)\b/, { efforts: 'low medium high', refuses: `parallel_tool_calls ${strict}` }],
  [/^o\d/, { efforts: 'low medium high', refuses: `parallel_tool_calls stop ${strict}` }],
  [/^gpt-5-chat/, { refuses: strict }],
  [/^(gpt-5\.\d-)?chat-latest/, { efforts: 'medium', refuses: `stop ${strict}` }],
  [/^gpt-5(-mini|-nano)?(-\d|$)/, { efforts: 'minimal low medium high', refuses: `stop ${strict}` }],
  [/^gpt-5\.1-codex-max/, { efforts: 'low medium high xhigh', refuses: `stop ${strict}` }],
  [/^gpt-5\.1\b/, { efforts: 'none low medium high', preset: 'none', sampling: true, refuses: `stop ${strict}` }],
  [
    /^gpt-5\.[23]\b/,
    { efforts: 'none low medium high xhigh', preset: 'none', sampling: true, refuses: `stop ${strict}` },
  ],
  [
    /^gpt-5\.4\b/,
    { efforts: 'none low medium high xhigh', preset: 'none', sampling: true, refuses: `stop ${strict}`, tools: false },
  ],
  [
    /^gpt-5\.[6-9]\b/,
    {
      efforts: 'none low medium high xhigh',
      sampling: true,
      refuses: `${strict} prompt_cache_retention`,
      tools: false,
    },
  ],
  [/^gpt-5\.5\b/, { efforts: 'none low medium high xhigh', sampling: true, refuses: strict, tools: false }],
  [
    /^gpt-(6|6\.2)-astra|^gpt-6\.[12]-sol/,
    { efforts: 'low medium high xhigh', refuses: `stop ${strict} prompt_cache_retention`, tools: false },
  ],
  [
    /^gpt-(?!35)([6-9]|\d\d)\b/,
    { efforts: 'none low medium high xhigh', refuses: `stop ${strict} prompt_cache_retention`, tools: false },
  ],
]

const sampling = words('temperature top_p logprobs top_logprobs logit_bias')

const unsupported = (name: string, more = ''): Refusal =>
  refuse(`Unsupported parameter: '${name}' is not supported with this model.${more}`, name, 'unsupported_parameter')

const listed = (values: string[]): string => values.map((value) => `'${value}'`).join(', ')

/** Whether a message has a part whose type fits. */
const hasPart = ({ messages }: Json, types: RegExp): boolean =>
  Array.isArray(messages) &&
  (messages as Json[]).some(
    (message) =>
      Array.isArray(message?.['content']) &&
      (message['content'] as Json[]).some((part) => types.test(String(part?.['type']))),
  )

/** What servers of other models say to the role `developer`, here in vLLM's words. */
const isOwn = /^(gpt-(?!oss|neo|j-|sw3)|chatgpt-|chat-latest|o\d|codex-|text-|computer-)/
const hasDeveloper = ({ messages }: Json): boolean =>
  Array.isArray(messages) && (messages as Json[]).some((message) => message?.['role'] === 'developer')

/** The error for a parameter that a model of today refuses; undefined if it takes all. */
export function modelRefusal(model: string, body: Json): Refusal | undefined {
  const id = model.replace(/^ft:/, '')
  if (!isOwn.test(id) && hasDeveloper(body)) return refuse('Unexpected message role.')
  if (
    /claude-([a-z]+-)?(4[-.][6-9]|[5-9])(?!\d)/.test(id) &&
    (body['messages'] as Json[])?.at(-1)?.['role'] === 'assistant'
  )
    return refuse(
      'This model does not support assistant message prefill. The conversation must end with a user message.',
    )
  const [, rules] = models.find(([beginning]) => beginning.test(id)) ?? []
  const { efforts, preset = 'medium', refuses = '' } = rules ?? {}
  const { reasoning_effort: given, verbosity, tools, temperature } = body
  if (/^(o\d|gpt-([5-9]|\d\d)\b)/.test(id) && !id.startsWith('gpt-35') && body['max_tokens'] !== undefined)
    return unsupported('max_tokens', " Use 'max_completion_tokens' instead.")
  if (isOwn.test(id) && hasPart(body, /-audio/.test(id) ? /video/ : /audio|video/))
    return refuse('content blocks are expected to be either text or image_url type')
  if (isOwn.test(id) && body['metadata'] !== undefined && body['store'] !== true)
    return refuse("The 'metadata' parameter is only allowed when 'store' is enabled.", 'metadata')
  const taken = efforts?.split(' ')
  if (given !== undefined) {
    if (!taken) return refuse('Unrecognized request argument supplied: reasoning_effort')
    if (!taken.includes(given as string))
      return refuse(
        `Unsupported value: 'reasoning_effort' does not support '${typeof given === 'string' ? given : JSON.stringify(given)}' with this model. Supported values are: ${listed(taken)}.`,
        'reasoning_effort',
        'unsupported_value',
      )
  }
  const effort = given ?? preset
  const calls = Array.isArray(tools) && (tools as Json[]).some(({ type }) => type === 'function')
  if (rules?.tools === false && calls && effort !== 'none')
    return refuse(
      `Function tools with reasoning_effort are not supported for ${model} in /v1/chat/completions. To use function tools, use /v1/responses or set reasoning_effort to 'none'.`,
      'reasoning_effort',
    )
  const name = words(refuses).find((field) => field in body)
  if (name) return unsupported(name)
  if (taken && !(rules?.sampling && effort === 'none')) {
    if (temperature !== undefined && temperature !== 1)
      return refuse(
        `Unsupported value: 'temperature' does not support ${String(temperature)} with this model. Only the default (1) value is supported.`,
        'temperature',
        'unsupported_value',
      )
    const other = sampling.find((field) => field !== 'temperature' && field in body)
    if (other) return unsupported(other)
  }
  if (effort === 'minimal' && body['parallel_tool_calls'] !== undefined) return unsupported('parallel_tool_calls')
  const isTerse = verbosity !== undefined && verbosity !== 'medium'
  if (isTerse && (!/^gpt-([5-9]|\d\d)|^chat-latest/.test(id) || id.startsWith('gpt-5-chat')))
    return refuse(
      `Unsupported value: 'verbosity' does not support '${String(verbosity)}' with this model. Supported values are: 'medium'.`,
      'verbosity',
      'unsupported_value',
    )
  return undefined
}
