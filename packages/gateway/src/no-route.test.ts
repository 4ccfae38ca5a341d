import { describe, expect, it } from 'vitest'
import { errorOf, testGateway } from '../../../test/support/gateway.js'

const chat = 'The gateway has the Chat Completions API: use POST /v1/chat/completions.'

describe('a path that the gateway does not have', () => {
  it.each([
    ['/v1/responses', chat],
    ['/v1/responses/resp_1/input_items', chat],
    ['/v1/completions', chat],
    ['/v1/messages', chat],
    ['/v1/messages/count_tokens', chat],
    ['/v1/assistants', chat],
    ['/v1/threads/t_1/runs', chat],
    ['/v1/conversations', chat],
    ['/v1beta/models/gemini-2.5-flash:streamGenerateContent', chat],
    ['/openai/deployments/gpt-4o/chat/completions', `${chat} The model is a field of the body.`],
    ['/v1beta/models/gemini-embedding-001:embedContent', 'Use POST /v1/embeddings.'],
    ['/v1/images/edits', 'Images are only generated: use POST /v1/images/generations.'],
    ['/v1/images/variations', 'Images are only generated: use POST /v1/images/generations.'],
    [
      '/v1/audio/translations',
      'Use POST /v1/audio/transcriptions, and POST /v1/chat/completions to translate the text.',
    ],
    ['/v1/moderations', 'The gateway does not offer this: use the provider’s own API.'],
    ['/v1/files', 'The gateway does not offer this: use the provider’s own API.'],
    ['/v1/files/file-1/content', 'The gateway does not offer this: use the provider’s own API.'],
    ['/v1/batches', 'The gateway does not offer this: use the provider’s own API.'],
    ['/v1/vector_stores', 'The gateway does not offer this: use the provider’s own API.'],
    ['/chat/completions', 'Did you mean /v1/chat/completions?'],
    ['/embeddings', 'Did you mean /v1/embeddings?'],
    ['/models', 'Did you mean /v1/models?'],
    ['/v1/chat/completions/', 'Did you mean /v1/chat/completions?'],
    ['/v1/models/', 'Did you mean /v1/models?'],
    ['/chat/completions/', 'Did you mean /v1/chat/completions?'],
    ['/v1/v1/chat/completions', 'Did you mean /v1/chat/completions?'],
    ['/v1//chat/completions', 'Did you mean /v1/chat/completions?'],
    ['//v1/audio/speech', 'Did you mean /v1/audio/speech?'],
    ['/openai/v1/chat/completions', chat],
    ['/api/v1/chat/completions', chat],
    ['/v1beta/openai/chat/completions', chat],
    ['/openai/v1/embeddings', 'Did you mean /v1/embeddings?'],
    ['/V1/embeddings', 'Did you mean /v1/embeddings?'],
    ['/v1/fim/completions', chat],
    ['/beta/completions', ''],
    ['/api/generate', chat],
    ['/v1/chat/completion', chat],
    ['/model/x/converse', chat],
    ['/v1/projects/p/locations/l/publishers/google/models/x:generateContent', chat],
    ['/openai/deployments/x/embeddings', 'Use POST /v1/embeddings. The model is a field of the body.'],
    ['/v2/rerank', 'The gateway does not offer this: use the provider’s own API.'],
    ['/v1/fine-tunes', 'The gateway does not offer this: use the provider’s own API.'],
    ['/v1/organization/costs', 'The gateway does not offer this: use the provider’s own API.'],
    ['/tokenize', 'The gateway does not offer this: use the provider’s own API.'],
    ['/health/', 'Did you mean /health?'],
    ['/v1/nothing', ''],
    ['/favicon.ico', ''],
    [`/${'x'.repeat(300)}`, ''],
  ])('%s is a 404 that names it', async (path, hint) => {
    const { send } = await testGateway()
    const response = await send('POST', path, {})
    const message = `There is nothing at ${path.slice(0, 100)}. ${hint}`.trim()
    expect([response.status, await errorOf(response)]).toEqual([
      404,
      { type: 'not_found_error', code: 'not_found', message },
    ])
  })

  it('is named without keys and accounts', async () => {
    const { send } = await testGateway()
    const key = 'gw-canary-0123456789'
    for (const path of [`/${key}`, `/models/${key}`, '/v1/users/ada@example.org/x', `/v1/files/sk-${key}`]) {
      const { message } = (await errorOf(await send('POST', path, {}))) as { message: string }
      expect(message).toContain('[redacted]')
      expect(message).not.toMatch(/canary|example/)
    }
  })
})
