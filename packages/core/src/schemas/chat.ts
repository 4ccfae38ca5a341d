/**
 * The shapes of Chat Completions.
 * Request objects are loose: fields that the schemas do not name are passed through to the upstream unchanged.
 * `null` always means absent, as OpenAI clients send it.
 */
import * as v from 'valibot'
import { MAX_CHOICES, MAX_MESSAGES, MAX_PARTS, MAX_TOOL_CALLS, MAX_TOOLS } from '../conventions.js'
import { isObject } from '../helpers/is-object.js'
import { count, integer } from './integers.js'
import { ours } from './ours.js'
import { variant } from './variant.js'

const text = v.string()
const name = v.nullish(v.string())

const TextPart = v.looseObject({ type: v.literal('text'), text })

const ImagePart = v.looseObject({
  type: v.literal('image_url'),
  image_url: v.looseObject({ url: v.string(), detail: v.nullish(v.picklist(['auto', 'low', 'high'])) }),
})

// Of audio, video and document parts the fields differ between vendors, so the upstream validates them.
const AudioPart = v.looseObject({ type: v.picklist(['input_audio', 'audio', 'audio_url']) })
const VideoPart = v.looseObject({ type: v.picklist(['video', 'video_url']) })
const DocumentPart = v.looseObject({ type: v.picklist(['file', 'document', 'document_url']) })

const RefusalPart = v.looseObject({ type: v.literal('refusal'), refusal: v.string() })

/** A part of a message's content: text, an image, other media or a refusal. */
export const ContentPart = variant('type', [TextPart, ImagePart, AudioPart, VideoPart, DocumentPart, RefusalPart])
export type ContentPart = v.InferOutput<typeof ContentPart>

const content = v.union(
  [v.string(), v.pipe(v.array(ContentPart), v.maxLength(MAX_PARTS))],
  'Expected a string or an array of content parts (text, image_url, input_audio, file, document, video_url)',
)

const FunctionCall = v.looseObject({ name: v.string(), arguments: v.string() })

/** A call of a tool. */
export const ToolCall = v.looseObject({ id: v.string(), type: v.literal('function'), function: FunctionCall })
export type ToolCall = v.InferOutput<typeof ToolCall>

/** A call of a free-text `custom` tool; only the OpenAI family has them. */
export const CustomToolCall = v.looseObject({
  id: v.string(),
  type: v.literal('custom'),
  custom: v.looseObject({ name: v.string(), input: v.string() }),
})

const SystemMessage = v.looseObject({ role: v.literal('system'), content, name })
/** The name of a system message for newer OpenAI models. */
const DeveloperMessage = v.looseObject({ role: v.literal('developer'), content, name })
const UserMessage = v.looseObject({ role: v.literal('user'), content, name })
const AssistantMessage = v.looseObject({
  role: v.literal('assistant'),
  content: v.nullish(content),
  name,
  tool_calls: v.nullish(v.pipe(v.array(variant('type', [ToolCall, CustomToolCall])), v.maxLength(MAX_TOOL_CALLS))),
  function_call: v.nullish(FunctionCall),
})
const ToolMessage = v.looseObject({ role: v.literal('tool'), content, tool_call_id: v.string(), name })
/** The deprecated form of a tool message, still sent by old clients. */
const FunctionMessage = v.looseObject({ role: v.literal('function'), content: v.nullish(content), name: v.string() })

/** A message, by role. */
export const ChatMessage = variant('role', [
  SystemMessage,
  DeveloperMessage,
  UserMessage,
  AssistantMessage,
  ToolMessage,
  FunctionMessage,
])
export type ChatMessage = v.InferOutput<typeof ChatMessage>

/** Any JSON object, passed through unchanged: valibot's object schemas drop keys such as `constructor`, which a JSON Schema may have. */
export const jsonObject = v.pipe(
  v.custom<Record<string, unknown>>(isObject, 'Expected an object'),
  v.metadata({ type: 'object' }),
)

const FunctionDefinition = v.looseObject({
  name: v.pipe(v.string(), v.minLength(1)),
  description: v.nullish(v.string()),
  parameters: v.nullish(jsonObject),
})

const FunctionTool = v.looseObject({ type: v.literal('function'), function: FunctionDefinition })

/** A tool that may be called. */
export const ToolDefinition = variant('type', [
  FunctionTool,
  v.looseObject({ type: v.literal('custom'), custom: v.looseObject({ name: v.pipe(v.string(), v.minLength(1)) }) }),
])
export type ToolDefinition = v.InferOutput<typeof ToolDefinition>

/** `tool_choice` of a chat request. */
export const ToolChoice = v.union(
  [
    v.picklist(['auto', 'none', 'required']),
    v.looseObject({ type: v.literal('function'), function: v.looseObject({ name: v.string() }) }),
    v.pipe(v.looseObject({ type: v.literal('allowed_tools'), allowed_tools: jsonObject }), ours()),
    v.pipe(v.looseObject({ type: v.literal('custom'), custom: v.looseObject({ name: v.string() }) }), ours()),
  ],
  'Expected "auto", "none", "required" or {"type":"function","function":{"name":…}}',
)

/** Far more than any vendor documents (131,072), and than the largest context (10,000,000) leaves room for. */
const maxTokens = v.nullish(v.pipe(integer, v.minValue(1), v.maxValue(10_000_000)))

/** The body of POST /v1/chat/completions. */
export const ChatCompletionRequest = v.looseObject({
  model: v.pipe(v.string(), v.minLength(1)),
  messages: v.pipe(v.array(ChatMessage), v.minLength(1), v.maxLength(MAX_MESSAGES)),
  stream: v.nullish(v.boolean()),
  stream_options: v.nullish(v.pipe(jsonObject, v.looseObject({ include_usage: v.nullish(v.boolean()) }))),
  max_tokens: maxTokens,
  temperature: v.nullish(v.pipe(v.number(), v.minValue(0), v.maxValue(2))),
  top_p: v.nullish(v.pipe(v.number(), v.minValue(0), v.maxValue(1))),
  stop: v.nullish(v.union([v.string(), v.array(v.string())], 'Expected a string or an array of strings')),
  system: v.nullish(v.string()),
  tools: v.nullish(v.pipe(v.array(ToolDefinition), v.maxLength(MAX_TOOLS))),
  tool_choice: v.nullish(ToolChoice),
  provider: v.nullish(v.string()),
  n: v.nullish(v.pipe(integer, v.minValue(1), v.maxValue(MAX_CHOICES))),
  // OpenAI's deprecated form of tools.
  functions: v.nullish(v.pipe(v.array(FunctionDefinition), v.maxLength(MAX_TOOLS))),
  function_call: v.nullish(
    v.union(
      [v.picklist(['auto', 'none']), v.looseObject({ name: v.string() })],
      'Expected "auto", "none" or {"name":…}',
    ),
  ),
  // Numbers that clients send and all families support. The upstream checks their range, which is narrower than these.
  max_completion_tokens: maxTokens,
  seed: v.nullish(v.pipe(integer, v.minValue(-(2 ** 63)), v.maxValue(2 ** 63))),
  top_k: v.nullish(v.number()),
  top_logprobs: v.nullish(v.pipe(integer, v.minValue(0), v.maxValue(1_000))),
  frequency_penalty: v.nullish(v.number()),
  presence_penalty: v.nullish(v.number()),
  // What an answer costs depends on it.
  service_tier: v.nullish(v.string()),
})
export type ChatCompletionRequest = v.InferOutput<typeof ChatCompletionRequest>

/** Token counts of one completion. Additional detail objects of upstreams are kept. */
export const Usage = v.looseObject({ prompt_tokens: count, completion_tokens: count, total_tokens: count })
export type Usage = v.InferOutput<typeof Usage>

/** Why a choice ended. */
export const FinishReason = v.picklist(['stop', 'length', 'tool_calls', 'content_filter'])
export type FinishReason = v.InferOutput<typeof FinishReason>

/** The response to a chat completion that is not streamed. */
export const ChatCompletion = v.looseObject({
  id: v.string(),
  object: v.literal('chat.completion'),
  created: integer,
  model: v.string(),
  choices: v.array(
    v.looseObject({
      index: count,
      message: v.looseObject({
        role: v.literal('assistant'),
        content: v.nullable(v.string()),
        tool_calls: v.optional(v.pipe(v.array(variant('type', [ToolCall, CustomToolCall])), v.minLength(1))),
      }),
      finish_reason: FinishReason,
    }),
  ),
  usage: Usage,
})
export type ChatCompletion = v.InferOutput<typeof ChatCompletion>

/** One entry of `delta.tool_calls`. Only the first entry of a call has `id`, `type` and `function.name`. */
export const ToolCallDelta = v.looseObject({
  index: count,
  id: v.optional(v.string()),
  type: v.optional(v.picklist(['function', 'custom'])),
  function: v.optional(v.looseObject({ name: v.optional(v.string()), arguments: v.optional(v.string()) })),
})
export type ToolCallDelta = v.InferOutput<typeof ToolCallDelta>

/** The change of a message in a chunk. */
export const ChatDelta = v.looseObject({
  role: v.optional(v.literal('assistant')),
  content: v.optional(v.nullable(v.string())),
  tool_calls: v.optional(v.array(ToolCallDelta)),
})
export type ChatDelta = v.InferOutput<typeof ChatDelta>

/** One event of a stream; the usage event has no choices. */
export const ChatChunk = v.looseObject({
  id: v.string(),
  object: v.literal('chat.completion.chunk'),
  created: integer,
  model: v.string(),
  choices: v.array(v.looseObject({ index: count, delta: ChatDelta, finish_reason: v.nullable(FinishReason) })),
  usage: v.optional(v.nullable(Usage)),
})
export type ChatChunk = v.InferOutput<typeof ChatChunk>
