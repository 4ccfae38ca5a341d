import { createRouter } from '@turnpike/providers'
import { azure } from '@turnpike/providers/azure'
import { bedrock } from '@turnpike/providers/bedrock'
import type { FakeAnswer } from '@turnpike/providers/testing'
import { fakeOpenAI } from '@turnpike/providers/testing'
import { vertex } from '@turnpike/providers/vertex'
import { expect, it } from 'vitest'
import { answer, errorOf, testGateway } from '../../../test/support/gateway.js'

const profile = 'arn:aws:bedrock:us-east-1:123456789012:application-inference-profile/a1b2c3'

it.each<[model: string, text: string, told: string]>([
  ['azure/gpt-4o', 'The API deployment internal-7 does not exist', 'The API deployment gpt-4o does not exist'],
  ['azure/gpt-4o', 'Unknown model: internal-7, not internal-75', 'Unknown model: gpt-4o, not internal-75'],
  [
    'azure/gpt-4o',
    'Deployment internal-7 in subscription 11111111-2222-3333-4444-555555555555 failed: too many images',
    'Deployment gpt-4o in subscription [redacted] failed: too many images',
  ],
  ['bedrock/claude-x', `The identifier ${profile} is invalid.`, 'The identifier claude-x is invalid.'],
  [
    'bedrock/claude-x',
    'The profile arn:aws:bedrock:us-east-1:123456789012:inference-profile/other of account 123456789012 is none',
    'The profile [redacted] of account [redacted] is none',
  ],
  [
    'vertex/gemini-2.5-flash',
    'Project our-project (number 123456789012; bot@our-project.iam.gserviceaccount.com) takes no such temperature',
    'Project [redacted] (number [redacted]; [redacted]) takes no such temperature',
  ],
  [
    'vertex/gemini-2.5-flash',
    'Publisher Model `projects/our-project/locations/us-central1/publishers/google/models/x` was not found.',
    'Publisher Model `[redacted]` was not found.',
  ],
])('threat 80: errors of clouds tell callers of %s no names of the operator: %s', async (model, text, told) => {
  const forms: Record<string, () => FakeAnswer> = {
    azure: () => answer({ error: { message: text, code: 'x', type: 'invalid_request_error' } }, 400),
    bedrock: () => answer({ message: text }, 400, { 'x-amzn-errortype': 'ValidationException' }),
    vertex: () => answer({ error: { code: 400, status: 'INVALID_ARGUMENT', message: text } }, 400),
  }
  const { transport } = fakeOpenAI({ override: forms[model.split('/')[0]!]! })
  const router = createRouter({
    providers: [
      azure({ baseURL: 'https://x.openai.azure.com', apiKey: 'k', deployments: { 'gpt-4o': 'internal-7' }, transport }),
      bedrock({ region: 'us-east-1', apiKey: 'k', profiles: { 'claude-x': profile }, transport }),
      vertex({ project: 'our-project', location: 'us-central1', token: () => 't', transport }),
    ],
  })
  const { chat } = await testGateway({ router })
  const response = await chat({ model })
  expect([response.status, await errorOf(response)]).toMatchObject([400, { message: told }])
})
