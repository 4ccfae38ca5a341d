import type { FakeAnswer } from './fake-upstream.js'
import { json, refused } from './google-answers.js'
import type { InlineData } from './google-media.js'
import { mediaOf, mediaTokens } from './google-media.js'
import { googleRefusal, isGemini3 } from './google-rules.js'
import { askedJson, sampleJson } from './sample-json.js'
import { newId, paced, tokens, tokensOf, wordsOf } from './simulation.js'

interface Part {
  text?: string
  inlineData?: InlineData
  thought?: true
  thoughtSignature?: string
  functionCall?: { name: string; args: unknown }
  functionResponse?: { name: string; response: unknown }
}

interface Declaration {
  name: string
  parameters?: unknown
  parametersJsonSchema?: unknown
}

interface ContentBody {
  systemInstruction?: { parts: Part[] }
  contents: { role: string; parts: Part[] }[]
  tools?: { functionDeclarations?: Declaration[] }[]
  toolConfig?: { functionCallingConfig?: { mode?: string; allowedFunctionNames?: string[] } }
  generationConfig?: {
    candidateCount?: number
    maxOutputTokens?: number
    responseMimeType?: string
    responseSchema?: unknown
    responseJsonSchema?: unknown
    thinkingConfig?: { includeThoughts?: boolean }
    responseModalities?: string[]
  }
}

interface Generation {
  parts: Part[]
  finish: 'STOP' | 'MAX_TOKENS'
}

const signature = 'c2lnbmF0dXJl'
const thought = 'A simulated thought.'

const textOf = (parts: Part[] = []): string => parts.flatMap(({ text }) => text ?? []).join(' ')

/** The answers to text and to audio. */
function replyTo(parts: Part[] = []): string {
  const audio = parts.flatMap(({ inlineData }) => (inlineData?.mimeType.startsWith('audio/') ? inlineData : []))[0]
  return audio
    ? `This is a simulated transcription of ${audio.mimeType}.`
    : `This is a simulated answer. You said: ${textOf(parts)}`
}

/** A sample value for a JSON Schema or for Google's own Schema, whose types are in upper case. */
const sample = (schema: unknown = {}): unknown =>
  sampleJson(
    JSON.parse(JSON.stringify(schema), (key, value: unknown) =>
      key === 'type' && typeof value === 'string' ? value.toLowerCase() : value,
    ),
  )

/** The tool that the model calls: the forced one, or one that the user names; none after a result. */
function chosenTool({ tools = [], toolConfig, contents }: ContentBody): Declaration | undefined {
  const { mode = 'AUTO', allowedFunctionNames: allowed } = toolConfig?.functionCallingConfig ?? {}
  const declarations = tools
    .flatMap(({ functionDeclarations = [] }) => functionDeclarations)
    .filter(({ name }) => !allowed || allowed.includes(name))
  const { parts } = contents.at(-1)!
  if (mode === 'ANY' && allowed) return declarations[0]
  if (mode === 'NONE' || parts.some(({ functionResponse }) => functionResponse)) return undefined
  if (mode === 'ANY') return declarations[0]
  const asked = textOf(parts)
  return declarations.find(({ name }) => asked.includes(name))
}

/** The model's text: deterministic, including the tool results and the user's text. */
function generate(model: string, body: ContentBody): Generation {
  const { systemInstruction, contents, generationConfig = {} } = body
  const { maxOutputTokens, responseMimeType, responseSchema, responseJsonSchema, thinkingConfig } = generationConfig
  const parts: Part[] = thinkingConfig?.includeThoughts ? [{ text: thought, thought: true }] : []
  const signed = isGemini3(model) ? { thoughtSignature: signature } : {}
  const tool = chosenTool(body)
  if (tool) {
    const args = sample(tool.parametersJsonSchema ?? tool.parameters)
    parts.push({ functionCall: { name: tool.name, args }, ...signed })
    return { parts, finish: 'STOP' }
  }
  const media = mediaOf(model, textOf(contents.at(-1)!.parts), generationConfig.responseModalities)
  if (media) return { parts: media.map((part) => ({ ...part, ...(!part.thought && signed) })), finish: 'STOP' }
  const results = contents.at(-1)!.parts.flatMap(({ functionResponse }) => functionResponse ?? [])
  const schema = responseJsonSchema ?? responseSchema
  const words =
    results.length > 0
      ? `The tools answered: ${results.map(({ response }) => JSON.stringify(response)).join(', ')}`
      : replyTo(contents.findLast(({ role }) => role === 'user')?.parts)
  // For models without system instructions, they are in the first content.
  const told = (systemInstruction ?? contents[0]!).parts.map(({ text = '' }) => text)
  let text = askedJson(told) ?? words
  if (schema !== undefined) text = JSON.stringify(sample(schema))
  else if (responseMimeType === 'application/json') text = '{"simulated":true}'
  const cut = maxOutputTokens !== undefined && tokens(text) > maxOutputTokens
  parts.push({ text: cut ? text.slice(0, maxOutputTokens * 4) : text, ...signed })
  return { parts, finish: cut ? 'MAX_TOKENS' : 'STOP' }
}

/** The responses to one request: the new parts, and the usage of all parts so far. */
function answering(model: string, body: ContentBody) {
  const promptTokenCount = tokens(JSON.stringify(body.contents))
  const thinks = isGemini3(model) || body.generationConfig?.thinkingConfig?.includeThoughts === true
  const thoughtsTokenCount = thinks ? tokens(thought) : 0
  const media = { IMAGE: 0, AUDIO: 0 }
  const responseId = newId('')
  /** Computed from all text so far, so that a stream reports the same total as a complete answer. */
  let characters = 0
  return (candidates: { content: { parts: Part[] } }[]) => {
    for (const { content } of candidates)
      for (const { thought, inlineData, functionCall, text = JSON.stringify(functionCall) } of content.parts)
        if (thought) continue
        else if (inlineData) {
          const modality = inlineData.mimeType.startsWith('audio/') ? 'AUDIO' : 'IMAGE'
          media[modality] += mediaTokens[modality]
        } else characters += text.length
    const candidatesTokenCount = tokensOf(characters) + media.IMAGE + media.AUDIO
    const details = Object.entries(media).flatMap(([modality, tokenCount]) =>
      tokenCount > 0 ? { modality, tokenCount } : [],
    )
    const usageMetadata = {
      promptTokenCount,
      candidatesTokenCount,
      totalTokenCount: promptTokenCount + candidatesTokenCount + thoughtsTokenCount,
      promptTokensDetails: [{ modality: 'TEXT', tokenCount: promptTokenCount }],
      ...(details.length > 0 && { candidatesTokensDetails: details }),
      ...(thinks && { thoughtsTokenCount }),
    }
    return { candidates, usageMetadata, modelVersion: model, responseId }
  }
}

const candidate = (index: number, parts: Part[], finishReason?: string) => ({
  content: { parts, role: 'model' },
  ...(finishReason && { finishReason }),
  index,
})

/** The chunks of a stream, split like the vendor's: one word each, calls unsplit; the last one has no text. */
function chunks(model: string, body: ContentBody, generations: Generation[]): object[] {
  const answer = answering(model, body)
  return generations.flatMap(({ parts, finish }, index) => {
    const pieces = parts.flatMap((part): Part[] => {
      if (part.text === undefined) return [part]
      const kind = part.thought && { thought: part.thought }
      return wordsOf(part.text).map((text) => ({ text, ...kind }))
    })
    const { text, thoughtSignature } = parts.at(-1)!
    const last: Part = { text: '', ...(text !== undefined && thoughtSignature && { thoughtSignature }) }
    return [...pieces.map((piece) => answer([candidate(index, [piece])])), answer([candidate(index, [last], finish)])]
  })
}

/** The fake's generateContent, or with `streams` its streamGenerateContent, with server-sent events if requested. */
export function googleContent(
  model: string,
  given: unknown,
  { streams, events, delayMs }: { streams: boolean; events: boolean; delayMs: number },
): FakeAnswer {
  const refusal = googleRefusal(model, given)
  if (refusal) return refused(refusal)
  const body = given as ContentBody
  const count = body.generationConfig?.candidateCount ?? 1
  const generations = Array.from({ length: count }, () => generate(model, body))
  if (!streams) {
    const candidates = generations.map(({ parts, finish }, index) => candidate(index, parts, finish))
    return json(answering(model, body)(candidates))
  }
  const all = chunks(model, body, generations)
  if (!events) return json(all)
  const lines = all.map((event) => `data: ${JSON.stringify(event)}\r\n\r\n`)
  return { status: 200, headers: { 'content-type': 'text/event-stream' }, body: paced(lines, delayMs) }
}
