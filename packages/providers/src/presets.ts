/** Servers of OpenAI's API by their names, so that nobody has to know their addresses. @module */
import type { ChatProvider } from '@turnpike/core'
import { unset } from '@turnpike/core/helpers'
import type { OpenAIOptions } from './openai/index.js'
import { openai } from './openai/index.js'

/** Stands for the account in an address. */
const ACCOUNT = '{accountId}'

/** What is known of a server. How its API differs from OpenAI's is known by its address (`openai/servers.ts`). */
export interface Preset {
  /** Its name for people. */
  name: string
  /** The base URL of its API; `{accountId}` stands for the account. */
  baseURL: string
  /** Whether it is on the own machine, at the port that it has by default, and wants no key. */
  local?: true
  /** Its models, where it does not list them as OpenAI does; default `live`. */
  models?: readonly string[]
}

/** The servers by the id that their providers have. Sources: the references of the APIs, and of programs that call them, November 2026. */
export const presets = {
  cerebras: { name: 'Cerebras', baseURL: 'https://api.cerebras.ai/v1' },
  // Its list has another form and another path.
  cloudflare: {
    name: 'Cloudflare Workers AI',
    baseURL: 'https://api.cloudflare.com/client/v4/accounts/{accountId}/ai/v1',
    models: [],
  },
  deepseek: { name: 'DeepSeek', baseURL: 'https://api.deepseek.com/v1' },
  fireworks: { name: 'Fireworks', baseURL: 'https://api.fireworks.ai/inference/v1' },
  groq: { name: 'Groq', baseURL: 'https://api.groq.com/openai/v1' },
  llamacpp: { name: 'llama.cpp', baseURL: 'http://localhost:8080/v1', local: true },
  lmstudio: { name: 'LM Studio', baseURL: 'http://localhost:1234/v1', local: true },
  mistral: { name: 'Mistral', baseURL: 'https://api.mistral.ai/v1' },
  moonshot: { name: 'Moonshot', baseURL: 'https://api.moonshot.ai/v1' },
  nvidia: { name: 'NVIDIA', baseURL: 'https://integrate.api.nvidia.com/v1' },
  ollama: { name: 'Ollama', baseURL: 'http://localhost:11434/v1', local: true },
  openrouter: { name: 'OpenRouter', baseURL: 'https://openrouter.ai/api/v1' },
  perplexity: {
    name: 'Perplexity',
    baseURL: 'https://api.perplexity.ai',
    models: ['sonar', 'sonar-pro', 'sonar-reasoning-pro', 'sonar-deep-research'],
  },
  together: { name: 'Together', baseURL: 'https://api.together.ai/v1' },
  vllm: { name: 'vLLM', baseURL: 'http://localhost:8000/v1', local: true },
  xai: { name: 'xAI', baseURL: 'https://api.x.ai/v1' },
  zhipu: { name: 'Zhipu', baseURL: 'https://api.z.ai/api/paas/v4' },
} as const satisfies Record<string, Preset>

/** The id of a preset. */
export type PresetId = keyof typeof presets

/** Options of {@link preset}. */
export interface PresetOptions extends OpenAIOptions {
  /** The account at Cloudflare, which is a part of the address. */
  accountId?: string | undefined
}

/**
 * Creates the provider of a preset. What the options say prevails: `baseURL` for another region or port, `id` for another account, `models`.
 * @throws TypeError that names the preset, if it is unknown, or the option that is wrong
 * @example preset('groq', { apiKey: process.env.GROQ_API_KEY })
 */
export function preset(name: PresetId, options: PresetOptions = {}): ChatProvider {
  if (!Object.hasOwn(presets, name))
    throw new TypeError(`There is no preset "${name}"; there are ${Object.keys(presets).join(', ')}`)
  const { baseURL, local, models }: Preset = presets[name]
  const { accountId, ...others } = options
  const isOfAccount = baseURL.includes(ACCOUNT)
  const own = isOfAccount ? others : options
  if (!local && !own.baseURL && !own.apiKey) throw unset(name, 'apiKey')
  if (isOfAccount && !own.baseURL && !accountId) throw unset(name, 'accountId')
  return openai({
    id: name,
    ...(models && { models }),
    ...own,
    baseURL: own.baseURL ?? baseURL.replace(ACCOUNT, encodeURIComponent(accountId ?? '')),
  })
}
