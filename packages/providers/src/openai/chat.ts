import type { ChatAdapter } from '../adapter.js'
import { reportOf } from './answer.js'
import { errors } from './errors.js'
import { OPENAI } from './models.js'
import { toRequest } from './request.js'
import type { Loose } from './response.js'
import { toResponse } from './response.js'
import { rulesAt } from './servers.js'
import { streamDecoder } from './stream.js'

/** Options of {@link openaiChat}. */
export interface ChatOptions {
  /** The address of the server, by which its differences are known; default OpenAI's. */
  baseURL?: string | undefined
  /**
   * For servers without a reasoning parser: thoughts at the beginning of the content, in `<think>…</think>` or the tags of other models, become
   * `reasoning_content`. `open` = the prompt has the opening tag, as by the templates of DeepSeek R1 and QwQ, and the answer begins within it.
   * Default false: contents are not looked into.
   */
  thinkTags?: boolean | 'open'
}

/**
 * The adapter of the OpenAI family: it passes requests and answers through and normalizes the deviations of compatible servers.
 * @example const adapter = openaiChat('mine', { thinkTags: true })
 */
export const openaiChat = (provider: string, options: ChatOptions = {}): ChatAdapter => {
  const rulesOf = rulesAt(options.baseURL ?? OPENAI)
  return {
    oneChoice: false,
    request: (request, refused) => toRequest(request, rulesOf, refused),
    response: (body, request) => toResponse(provider, body as Loose, request, options.thinkTags),
    usage: reportOf,
    stream: (request) => streamDecoder(provider, request.model, options.thinkTags),
    errors,
    billsFiles: (model) => rulesOf(model).billsFiles === true,
    refusalFee: (model) => rulesOf(model).refusalFee ?? 0,
  }
}
