/** Amazon Bedrock: Claude and the models with OpenAI's API, by an API key of Bedrock or by credentials of AWS. Needs aws4fetch. @module */
import type { ChatProvider, OwnModel } from '@turnpike/core'
import { checkOptions, unset } from '@turnpike/core/helpers'
import { AwsV4Signer } from 'aws4fetch'
import type { AnthropicOptions } from '../anthropic/index.js'
import { anthropicCapabilities } from '../anthropic/models.js'
import type { FamilyOptions } from '../family.js'
import { common, familyProvider } from '../family.js'
import { idOf } from '../models/own-models.js'
import { Secrets } from '../refusals/secrets.js'
import { fetchTransport } from '../upstream/transport.js'
import type { Upstream } from '../upstream/upstream.js'
import { bedrockChat, isClaude } from './chat.js'
import { bedrockTransport } from './events.js'

/** Credentials of AWS. */
export interface AwsCredentials {
  accessKeyId: string
  secretAccessKey: string
  /** The token of temporary credentials. */
  sessionToken?: string | undefined
}

/** Options of {@link bedrock}. Either `apiKey` or `credentials` must be set. */
export interface BedrockOptions extends Omit<FamilyOptions, 'models'>, Pick<AnthropicOptions, 'maxOutput'> {
  /** The region, such as `us-east-1`. */
  region: string
  /** The base URL of the runtime, for an endpoint within a VPC or a proxy; default `https://bedrock-runtime.REGION.amazonaws.com`. */
  baseURL?: string | undefined
  /**
   * Credentials that sign each request (SigV4), or a function that gives them, which is called for each request.
   * @example fromNodeProviderChain() // of @aws-sdk/credential-providers
   */
  credentials?: AwsCredentials | (() => AwsCredentials | Promise<AwsCredentials>) | undefined
  /**
   * The id at Bedrock by the id that callers use: a model, an inference profile or its ARN; in short for `models` with `upstream`. Needed for a profile whose id does not name its model,
   * as the rules of a model go by the callers' id.
   * @example { 'claude-sonnet-4-5': 'arn:aws:bedrock:us-east-1:123456789012:application-inference-profile/a1b2c3' }
   */
  profiles?: Readonly<Record<string, string>>
  /** The ids of the models; default those of `profiles`. Other ids can be requested as well. */
  models?: readonly (string | OwnModel)[]
}

/** Such as us-east-1, us-gov-west-1 and eusc-de-east-1. */
const REGION = /^[a-z]+-[a-z]+(-[a-z]+)?-\d$/

/** Makes the headers that sign a request. @throws TypeError if there are no credentials */
const signer =
  (
    region: string,
    credentials: NonNullable<BedrockOptions['credentials']>,
    secrets: Secrets,
  ): NonNullable<Upstream['authorize']> =>
  async ({ method, url, headers, body }) => {
    const own = typeof credentials === 'function' ? await credentials() : credentials
    const { accessKeyId, secretAccessKey, sessionToken } = own
    secrets.add(secretAccessKey)
    const signed = await new AwsV4Signer({
      method,
      url,
      // AWS wants its own headers to be signed.
      headers: Object.fromEntries(Object.entries(headers).filter(([name]) => /^(content-type|x-amz-.*)$/.test(name))),
      ...(body !== undefined && { body: body as string }),
      accessKeyId,
      secretAccessKey,
      ...(sessionToken && { sessionToken }),
      service: 'bedrock',
      region,
    }).sign()
    return Object.fromEntries(signed.headers)
  }

/**
 * Creates a provider of Amazon Bedrock.
 * @throws TypeError that names the option which is wrong
 * @example bedrock({ region: 'us-east-1', apiKey: process.env.AWS_BEARER_TOKEN_BEDROCK, models: ['us.anthropic.claude-sonnet-4-5-20250929-v1:0'] })
 */
export function bedrock(options: BedrockOptions): ChatProvider {
  checkOptions<BedrockOptions>('bedrock', options, {
    ...common,
    region: true,
    credentials: false,
    profiles: false,
    maxOutput: false,
  })
  const { region, apiKey, credentials, profiles = {}, maxOutput, ...rest } = options
  const { models = Object.keys(profiles), transport = fetchTransport() } = rest
  if (!REGION.test(region)) throw new TypeError('bedrock: the option "region" must be a region, such as us-east-1')
  if (!Array.isArray(models)) throw new TypeError('bedrock: the option "models" must be a list of ids')
  if (apiKey !== undefined && credentials !== undefined)
    throw new TypeError('bedrock: only one of the options "apiKey" and "credentials" can be set')
  if (typeof credentials === 'object')
    for (const name of ['accessKeyId', 'secretAccessKey'] as const)
      if (!credentials[name]) throw unset('bedrock', `credentials.${name}`)
  const secrets = new Secrets()
  return familyProvider(
    {
      id: 'bedrock',
      baseURL: `https://bedrock-runtime.${region}.amazonaws.com`,
      options: {},
      credential: (key) => ({ authorization: `Bearer ${key}` }),
      authorize: credentials && signer(region, credentials, secrets),
      secrets,
      chat: (provider, names) => bedrockChat(provider, names, maxOutput),
      upstream: profiles,
      catalogue: Object.fromEntries(
        models
          .map(idOf)
          .filter(isClaude)
          .map((id) => [id, anthropicCapabilities]),
      ),
      owns: (model) => /(^|\.)(anthropic|openai)\./.test(model),
    },
    { ...rest, ...(!credentials && { apiKey }), models, transport: bedrockTransport(transport) },
  )
}
