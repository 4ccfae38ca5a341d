/** The provider of a deployment of LiteLLM. @module */
import type { Litellm, Section } from './litellm-section.js'
import type { Tree } from './tree.js'

/** The type of a provider of LiteLLM, with the variables by which LiteLLM finds its key and address. */
interface Door {
  type: string
  key?: string
  base?: string
}

/** Providers by their prefix there, but for those of the clouds. Source: LiteLLM's pages of its providers, November 2026. */
const doors: Record<string, Door> = {
  anthropic: { type: 'anthropic', key: 'ANTHROPIC_API_KEY' },
  cerebras: { type: 'cerebras', key: 'CEREBRAS_API_KEY' },
  cloudflare: { type: 'cloudflare', key: 'CLOUDFLARE_API_KEY' },
  custom_openai: { type: 'openai' },
  deepseek: { type: 'deepseek', key: 'DEEPSEEK_API_KEY' },
  fireworks_ai: { type: 'fireworks', key: 'FIREWORKS_AI_API_KEY' },
  gemini: { type: 'google', key: 'GEMINI_API_KEY' },
  groq: { type: 'groq', key: 'GROQ_API_KEY' },
  hosted_vllm: { type: 'vllm', base: 'HOSTED_VLLM_API_BASE' },
  litellm_proxy: { type: 'openai', key: 'LITELLM_PROXY_API_KEY', base: 'LITELLM_PROXY_API_BASE' },
  lm_studio: { type: 'lmstudio', base: 'LM_STUDIO_API_BASE' },
  mistral: { type: 'mistral', key: 'MISTRAL_API_KEY' },
  moonshot: { type: 'moonshot', key: 'MOONSHOT_API_KEY' },
  nvidia_nim: { type: 'nvidia', key: 'NVIDIA_NIM_API_KEY' },
  ollama: { type: 'ollama' },
  openai: { type: 'openai', key: 'OPENAI_API_KEY' },
  openai_like: { type: 'openai' },
  openrouter: { type: 'openrouter', key: 'OPENROUTER_API_KEY' },
  perplexity: { type: 'perplexity', key: 'PERPLEXITYAI_API_KEY' },
  together_ai: { type: 'together', key: 'TOGETHERAI_API_KEY' },
  xai: { type: 'xai', key: 'XAI_API_KEY' },
  zai: { type: 'zhipu', key: 'ZAI_API_KEY' },
}
const sameAs: Record<string, string> = {
  bedrock_converse: 'bedrock',
  ollama_chat: 'ollama',
  vertex_ai_beta: 'vertex_ai',
}

/** The providers of ids without a prefix. */
const families: [prefix: string, ids: RegExp][] = [
  ['openai', /^(gpt-|chatgpt-|o\d|text-embedding-|dall-e-|tts-|whisper-|ft:)/],
  ['anthropic', /^claude-/],
  ['vertex_ai', /^gemini-/],
]

/** A deployment's provider and the id of its model there. */
export interface Connection {
  /** What its provider is called, if nothing else is. */
  id: string
  model: string
  /** What its provider is asked for in place of it, where that differs. */
  target?: string
  /** The settings of the provider, without an id. */
  settings: Tree
}

const defined = (tree: Tree): Tree =>
  Object.fromEntries(Object.entries(tree).filter(([, value]) => value !== undefined))

/** The provider that an id names, and the rest of it. */
function split(given: string, provider: string | undefined): { prefix?: string; model: string } {
  const [, written, rest] = /^([^/]+)\/(.*)$/.exec(given) ?? []
  if (provider !== undefined) return { prefix: provider, model: written === provider ? rest! : given }
  if (written !== undefined) return { prefix: written, model: rest! }
  const family = families.find(([, ids]) => ids.test(given))
  return { ...(family && { prefix: family[0] }), model: given }
}

/** What is kept of an address, in the form that a provider of ours wants. */
const addresses: Record<string, (base: string) => string> = {
  anthropic: (base) => base.replace(/\/+$/, '').replace(/\/v1(\/messages)?$/, ''),
  ollama: (base) => (/\/v1\/*$/.test(base) ? base : `${base.replace(/\/+$/, '')}/v1`),
}

function azure(file: Litellm, params: Section, id: string, deployment: string): Connection {
  const version = params.text('api_version')
  const token = params.text('azure_ad_token')
  return {
    id: 'azure',
    model: deployment === '*' ? deployment : id,
    ...(!['*', '', id].includes(deployment) && { target: deployment }),
    settings: defined({
      type: 'azure',
      apiKey: token === undefined ? (params.text('api_key') ?? file.variable('AZURE_API_KEY')) : undefined,
      token,
      baseURL: params.text('api_base') ?? file.variable('AZURE_API_BASE'),
      apiVersion: version && /^(v1|preview|latest)$/.test(version) ? undefined : version,
    }),
  }
}

function bedrock(file: Litellm, params: Section, given: string): Connection | undefined {
  const [, region, model] = /^(?:(?:converse|invoke)\/)?(?:([a-z]{2,4}-[a-z-]+-\d)\/)?(.+)$/.exec(given) ?? []
  const profile = params.text('model_id')
  if (!model || !/(^|[./])(claude-|openai\.)|^\*$/.test(model)) {
    params.note('model', 'of Bedrock, Claude and the models with the API of OpenAI are served')
    return undefined
  }
  const apiKey = params.text('api_key')
  const [accessKeyId, secretAccessKey] = [params.text('aws_access_key_id'), params.text('aws_secret_access_key')]
  if (apiKey !== undefined && (accessKeyId ?? secretAccessKey) !== undefined)
    params.note('aws_access_key_id', 'api_key takes its place')
  const credentials = {
    accessKeyId: accessKeyId ?? file.variable('AWS_ACCESS_KEY_ID'),
    secretAccessKey: secretAccessKey ?? file.variable('AWS_SECRET_ACCESS_KEY'),
    sessionToken: params.text('aws_session_token'),
  }
  return {
    id: 'bedrock',
    model,
    ...(profile !== undefined && { target: profile }),
    settings: defined({
      type: 'bedrock',
      region: params.text('aws_region_name') ?? region ?? file.variable('AWS_REGION_NAME', 'us-west-2'),
      apiKey,
      credentials: apiKey === undefined ? defined(credentials) : undefined,
      baseURL: params.text('aws_bedrock_runtime_endpoint') ?? params.text('api_base'),
    }),
  }
}

/** The key of a service account: an object, a text of JSON, or the path of its file. */
function serviceAccount(file: Litellm, params: Section): unknown {
  const given = params.take('vertex_credentials')
  if (typeof given !== 'string') return given
  if (!given.trimStart().startsWith('{')) return file.text(given)
  try {
    return JSON.parse(given) as unknown
  } catch {
    params.note('vertex_credentials', 'it is no JSON')
    return undefined
  }
}

function vertex(file: Litellm, params: Section, model: string): Connection | undefined {
  if (!/^(gemini-|claude-|text-(multilingual-)?embedding-|\*$)/.test(model)) {
    params.note('model', 'of Vertex AI, Gemini and Claude are served')
    return undefined
  }
  return {
    id: 'vertex_ai',
    model,
    settings: {
      type: 'vertex',
      project: params.text('vertex_project') ?? file.variable('VERTEXAI_PROJECT'),
      location: params.text('vertex_location') ?? file.variable('VERTEXAI_LOCATION', 'us-central1'),
      credentials: serviceAccount(file, params) ?? file.variable('GOOGLE_APPLICATION_CREDENTIALS'),
    },
  }
}

/** A server of OpenAI's API, or one of the other families at its vendor's address. */
function other(file: Litellm, params: Section, prefix: string, door: Door, model: string): Connection {
  const { type, key, base } = door
  const isOwn = params.has('api_base')
  const given = params.text('api_base') ?? (base === undefined ? undefined : file.variable(base))
  const own = params.text('api_key')
  // The key of OpenAI is for OpenAI.
  const isElsewhere = prefix === 'openai' && isOwn
  if (isElsewhere && own === undefined) params.note('api_key', 'without one, none is sent to this address')
  const apiKey = own ?? (key === undefined || isElsewhere ? undefined : file.variable(key))
  return {
    id: type === 'google' ? 'google' : prefix,
    // The short form of the ids of Fireworks.
    model: type === 'fireworks' && /^[^/*]+$/.test(model) ? `accounts/fireworks/models/${model}` : model,
    settings: defined({
      type,
      apiKey,
      baseURL: given === undefined ? undefined : (addresses[type]?.(given) ?? given),
      accountId: type === 'cloudflare' && !isOwn ? file.variable('CLOUDFLARE_ACCOUNT_ID') : undefined,
    }),
  }
}

/**
 * The provider of a deployment; undefined, and noted, where there is none.
 * @param id what callers may call a deployment of Azure, whose own name says nothing of its model
 */
export function connectionOf(file: Litellm, params: Section, id: string): Connection | undefined {
  const given = params.text('model')
  if (given === undefined) {
    params.note('model', 'it must be the id of a model')
    return undefined
  }
  const { prefix: written, model } = split(given, params.text('custom_llm_provider'))
  const prefix = written === undefined ? written : (sameAs[written] ?? written)
  if (prefix === 'azure') return azure(file, params, id, model)
  if (prefix === 'bedrock') return bedrock(file, params, model)
  if (prefix === 'vertex_ai') return vertex(file, params, model)
  if (prefix !== undefined && Object.hasOwn(doors, prefix)) return other(file, params, prefix, doors[prefix]!, model)
  if (!params.has('api_base')) {
    params.note('model', `${prefix ?? given} is no provider here`)
    return undefined
  }
  params.note(
    'api_base',
    'its server is taken for one of the API of OpenAI, at the address that precedes /chat/completions',
  )
  return other(file, params, prefix ?? 'openai', { type: 'openai' }, model)
}
