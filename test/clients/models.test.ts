import OpenAI, { NotFoundError } from 'openai'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { uuidv7Pattern } from '../support/patterns.js'
import { runtime } from '../support/runtime.js'
import type { Stack } from '../support/stack.js'
import { startStack } from '../support/stack.js'

const mini = {
  id: 'gpt-4o-mini',
  object: 'model',
  // A fact of the catalogue, which may be drawn up anew.
  created: expect.any(Number) as number,
  owned_by: 'openai',
  provider: 'openai',
  capabilities: ['chat', 'tools', 'vision', 'json_schema'],
}

let stack: Stack
let client: OpenAI
beforeAll(async () => {
  stack = await startStack()
  client = new OpenAI({ baseURL: stack.url, apiKey: stack.key, maxRetries: 0 })
})
afterAll(() => stack.stop())

it(`lists the models with the openai client against ${runtime}`, async () => {
  const { data, request_id } = await client.models.list().withResponse()
  expect(request_id).toMatch(uuidv7Pattern)
  const models = []
  for await (const model of data) models.push(model)
  expect(models).toContainEqual(mini)
  const ids = models.map(({ id }) => id)
  expect(new Set(ids).size).toBe(ids.length)
})

it.each(['gpt-4o-mini', 'openai/gpt-4o-mini'])(`retrieves %s against ${runtime}`, async (id) => {
  const fidelity = expect.objectContaining({ seed: 'kept', 'custom tools': 'kept' }) as object
  expect(await client.models.retrieve(id)).toEqual({ ...mini, fidelity })
})

it.each(['no-such-model', 'openai/no-such-model', 'nobody/gpt-4o-mini'])(
  `rejects %s with NotFoundError against ${runtime}`,
  async (id) => {
    const error: unknown = await client.models.retrieve(id).catch((error: unknown) => error)
    expect(error).toBeInstanceOf(NotFoundError)
    expect(error).toMatchObject({
      status: 404,
      type: 'not_found_error',
      code: 'not_found',
      message: '404 There is no model with this id',
      requestID: expect.stringMatching(uuidv7Pattern) as string,
    })
  },
)

it(`never calls the upstream for its models against ${runtime}`, () => {
  expect(stack.upstream.requests).toEqual([])
})
