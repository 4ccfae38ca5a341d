import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { runtime } from '../support/runtime.js'
import type { FamiliesStack } from './families-stack.js'
import { models, startFamilies } from './families-stack.js'
import { kinds } from './kinds.js'

const zodSchema = z.object({
  city: z.string().min(1),
  celsius: z.number(),
  rain: z.boolean(),
  seasons: z.array(z.enum(['dry', 'wet'])),
})

const schema = {
  type: 'object',
  properties: {
    city: { type: 'string' },
    celsius: { type: 'number' },
    rain: { type: 'boolean' },
    seasons: { type: 'array', items: { type: 'string', enum: ['dry', 'wet'] } },
  },
  required: ['city', 'celsius', 'rain', 'seasons'],
  additionalProperties: false,
}

/** How each model is told the schema. */
const told: Record<string, object> = {
  'gpt-4o-mini': { response_format: { type: 'json_schema', json_schema: { schema } } },
  'claude-sonnet-4-5': { output_config: { format: { type: 'json_schema', schema } } },
  'claude-opus-4-8': { output_config: { format: { type: 'json_schema', schema } } },
  'claude-sonnet-5': { output_config: { format: { type: 'json_schema', schema } } },
  'claude-sonnet-5-5': { output_config: { format: { type: 'json_schema', schema } } },
  // From before Claude held to schemas.
  'anthropic/claude-sonnet-4-20250514': {
    tools: [{ name: 'json', input_schema: schema }],
    tool_choice: { type: 'any', disable_parallel_tool_use: true },
  },
  'gemini-2.5-flash': {
    generationConfig: { responseMimeType: 'application/json', responseJsonSchema: schema },
  },
  'google/gemini-3-flash-preview': {
    generationConfig: { responseMimeType: 'application/json', responseJsonSchema: schema },
  },
}

let stack: FamiliesStack
beforeAll(async () => {
  stack = await startFamilies()
})
afterAll(() => stack.stop())

describe.each(kinds)(`$name against ${runtime}`, ({ connect }) => {
  describe.each(models)('gets an object of $model', ({ model, vendor }) => {
    it.each([false, true])('by a schema, streamed: %s', async (stream) => {
      const { requests } = stack.upstreams[vendor]
      const before = requests.length
      const { url, key } = stack
      const object = await connect({ url, key }).extract({ model, text: 'How is Oslo?' }, zodSchema, { stream })
      // What the fakes make of the schema that they were sent.
      expect(object).toEqual({ city: 'city', celsius: 1, rain: true, seasons: ['dry'] })
      const [body, ...more] = requests.slice(before).map(({ body }) => body)
      expect(more).toEqual([])
      expect(body).toMatchObject(told[model]!)
    })
  })
})
