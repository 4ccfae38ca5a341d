import type { KeyObject } from 'node:crypto'
import { generateKeyPairSync } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { FakeAnswer, FakeRequest, FakeUpstream } from '@turnpike/providers/testing'
import { fakeAzure, fakeBedrock, fakeOpenAI, fakeVertex } from '@turnpike/providers/testing'
import type { FakeOllama } from './fake-ollama.js'
import { startOllama } from './fake-ollama.js'

/** The configuration of examples/all-providers. */
export const CONFIG = fileURLToPath(new URL('../../examples/all-providers/turnpike.config.yaml', import.meta.url))

const newKey = () => generateKeyPairSync('rsa', { modulusLength: 2048 })
const { publicKey, privateKey } = newKey()
const pem = (key: KeyObject): string => key.export({ type: 'pkcs8', format: 'pem' }).toString()

/**
 * The credentials that upstreams accept, by the variables of the file, in the forms that their vendors give them: an error within an answer of 200 that
 * repeats one is known by its form (threat 5).
 */
export const credentials = {
  OPENAI_KEY_ONE: 'sk-canary-one-0123456789',
  OPENAI_KEY_TWO: 'sk-canary-two-0123456789',
  AZURE_KEY: '0a11ca0a4f0123456789abcdefa21e01',
  AZURE_DATED_KEY: '0a11ca0a4f0123456789abcdefa21e02',
  BEDROCK_KEY: 'ABSKQ2FuYXJ5MEJlZHJvY2tBUElLZXk6MDEyMzQ1Njc4OQ==',
  BEDROCK_ACCESS_KEY_ID: 'AKIACANARY0123456789',
  BEDROCK_SECRET_ACCESS_KEY: 'wCanary0XUtnFEMI/K7MDENG/bPxRfiCYEXAMPLE',
  OPENROUTER_KEY: 'sk-or-v1-canary-0123456789',
  VLLM_KEY: '0ca11a5e11f0123456789abcdefa21e03abcdef0123456789abcdef012345678',
}
/** The value of the header that Azure gets. */
export const COST_CENTRE = 'sk-canary-centre-0123456789'
export const privateKeyPem = pem(privateKey)
const EMAIL = 'turnpike@our-project.iam.gserviceaccount.com'
const PROFILE = 'arn:aws:bedrock:eu-central-1:123456789012:application-inference-profile/a1b2c3'

const json = (body: object, status = 200): FakeAnswer => ({
  status,
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify(body),
})

/** The two keys of OpenAI are right at one address. */
const wrongKey = ({ headers }: FakeRequest): FakeAnswer | undefined =>
  [credentials.OPENAI_KEY_ONE, credentials.OPENAI_KEY_TWO].includes(headers['authorization']?.slice(7) ?? '')
    ? undefined
    : json({ error: { message: 'Incorrect API key provided', code: 'invalid_api_key' } }, 401)

/** A server with OpenAI's API and with models of its own. */
function compatible(apiKey: string, models: string[], override: (request: FakeRequest) => FakeAnswer | undefined) {
  const own = ({ method, path, headers, body }: FakeRequest): FakeAnswer | undefined => {
    if (headers['authorization'] !== `Bearer ${apiKey}`) return undefined
    if (method === 'GET' && path.endsWith('/models'))
      return json({ object: 'list', data: models.map((id) => ({ id, object: 'model', created: 1, owned_by: 'them' })) })
    if (!path.endsWith('/embeddings')) return undefined
    const data = [{ object: 'embedding', index: 0, embedding: [0.6, -0.8] }]
    const { model } = body as { model: string }
    return json({ object: 'list', model, data, usage: { prompt_tokens: 2, total_tokens: 2 } })
  }
  return fakeOpenAI({ apiKey, override: (request) => override(request) ?? own(request) })
}

/** Upstreams of all kinds. */
export interface AllProviders {
  /** The variables that the file of the example needs. */
  env: Record<string, string>
  upstreams: Record<
    'openai' | 'azure' | 'azure-dated' | 'vertex' | 'bedrock' | 'bedrock-eu' | 'openrouter' | 'vllm',
    FakeUpstream
  >
  ollama: FakeOllama
  /** The path of the key of the same service account that Google does not know. */
  otherKeyFile: string
  /** Overrides the answers of all but Ollama. */
  fault: ((request: FakeRequest) => FakeAnswer | undefined) | undefined
  close(): Promise<void>
}

/** Starts an upstream of each kind over HTTP. Each accepts its own credential only. */
export async function startAllProviders(): Promise<AllProviders> {
  const override = (request: FakeRequest): FakeAnswer | undefined => all.fault?.(request)
  const mini = 'gpt-4o-mini'
  const small = 'text-embedding-3-small'
  const { BEDROCK_ACCESS_KEY_ID: accessKeyId, BEDROCK_SECRET_ACCESS_KEY: secretAccessKey } = credentials
  const upstreams: AllProviders['upstreams'] = {
    openai: fakeOpenAI({ override: (request) => override(request) ?? wrongKey(request) }),
    azure: fakeAzure({
      apiKey: credentials.AZURE_KEY,
      deployments: { 'our-mini': mini, 'our-embeddings': small },
      override,
    }),
    'azure-dated': fakeAzure({
      apiKey: credentials.AZURE_DATED_KEY,
      deployments: { 'old-mini': mini, 'old-embeddings': small },
      override,
    }),
    vertex: fakeVertex({
      account: { email: EMAIL, publicKey: publicKey.export({ type: 'spki', format: 'der' }).toString('base64') },
      project: 'our-project',
      override,
    }),
    bedrock: fakeBedrock({ apiKey: credentials.BEDROCK_KEY, override }),
    'bedrock-eu': fakeBedrock({
      // No key is right here.
      apiKey: '',
      credentials: { accessKeyId, secretAccessKey },
      region: 'eu-central-1',
      profiles: { [PROFILE]: 'claude-sonnet-4-5' },
      override,
    }),
    openrouter: compatible(credentials.OPENROUTER_KEY, [], override),
    vllm: compatible(credentials.VLLM_KEY, ['Qwen/Qwen3-8B', 'BAAI/bge-m3'], override),
  }
  const ollama = await startOllama(['qwen3:8b', 'nomic-embed-text:latest'])
  const folder = mkdtempSync(join(tmpdir(), 'turnpike-all-providers-'))
  const listeners = await Promise.all(
    Object.entries(upstreams).map(async ([name, upstream]) => ({ name, ...(await upstream.listen()) })),
  )
  const urlOf = (name: keyof AllProviders['upstreams']): string => listeners.find((it) => it.name === name)!.url
  const keyFile = (name: string, private_key: string): string => {
    const path = join(folder, name)
    const token_uri = `${urlOf('vertex')}/token`
    const key = { type: 'service_account', project_id: 'our-project', private_key, client_email: EMAIL, token_uri }
    writeFileSync(path, JSON.stringify(key), { mode: 0o600 })
    return path
  }
  const all: AllProviders = {
    env: {
      CONFIG,
      ...credentials,
      OPENAI_URL: `${urlOf('openai')}/v1`,
      AZURE_ENDPOINT: urlOf('azure'),
      AZURE_COST_CENTRE: COST_CENTRE,
      AZURE_DATED_ENDPOINT: urlOf('azure-dated'),
      VERTEX_KEY_FILE: keyFile('key.json', privateKeyPem),
      VERTEX_URL: urlOf('vertex'),
      BEDROCK_URL: urlOf('bedrock'),
      BEDROCK_EU_URL: urlOf('bedrock-eu'),
      BEDROCK_PROFILE: PROFILE,
      OPENROUTER_URL: `${urlOf('openrouter')}/api/v1`,
      OLLAMA_URL: ollama.url,
      VLLM_URL: `${urlOf('vllm')}/v1`,
    },
    upstreams,
    ollama,
    otherKeyFile: keyFile('other-key.json', pem(newKey().privateKey)),
    fault: undefined,
    async close() {
      await Promise.all([...listeners.map(({ close }) => close()), ollama.close()])
      rmSync(folder, { recursive: true })
    },
  }
  return all
}
