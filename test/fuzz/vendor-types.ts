import type { MessageCreateParams } from '@anthropic-ai/sdk/resources/messages'
import type * as genai from '@google/genai'
import type { ChatCompletionCreateParams } from 'openai/resources/chat/completions'

export type OpenAI = ChatCompletionCreateParams

/** The last SDK before it went to a later version of the API than the one that we speak, 2023-06-01. */
export type Claude = MessageCreateParams

/** JSON has an enum's value, which TypeScript takes for no member of it: each enum becomes its values, at any depth. */
type Json<T> = T extends string ? `${T}` : T extends object ? { [Key in keyof T]: Json<T[Key]> } : T

type With<T, Changed> = Omit<T, keyof Changed> & Changed

/** We write levels in lower case, as wire-formats.md 3.1 has them; the SDK has them in capitals only. */
type ThinkingConfig = With<Json<genai.ThinkingConfig>, { thinkingLevel?: Lowercase<`${genai.ThinkingLevel}`> }>

/** The body of generateContent: the SDK has the types of all its parts, but takes them apart from each other in `config`. */
export interface Gemini {
  contents: Json<genai.Content>[]
  systemInstruction?: Json<genai.Content>
  tools?: Json<genai.Tool>[]
  toolConfig?: Json<genai.ToolConfig>
  generationConfig?: With<Json<genai.GenerationConfig>, { thinkingConfig?: ThinkingConfig }>
}
