import { expect, it } from 'vitest'
import { completion, testGateway } from '../../../../test/support/gateway.js'

it.each<[fields: object, field: string, name: string]>([
  [{ Model: 'gpt-5-pro' }, 'Model', 'model'],
  [{ Messages: [{ role: 'user', content: 'a secret' }] }, 'Messages', 'messages'],
  [{ N: 100 }, 'N', 'n'],
  [{ 'me\u017f\u017fages': [] }, 'me\u017f\u017fages', 'messages'],
  [{ messages: [{ role: 'user', content: 'Hi', Content: 'a secret' }] }, 'messages.Content', 'content'],
  [
    { messages: [{ role: 'user', content: [{ type: 'text', text: 'Hi', TEXT: 'a secret' }] }] },
    'messages.content.TEXT',
    'text',
  ],
])(
  'threat 163: refuses another spelling of a field, which some servers take for it: %j',
  async (fields, field, name) => {
    const { chat, upstream } = await testGateway({ upstream: () => completion() })
    const response = await chat(fields)
    expect(response.status).toBe(400)
    expect(await response.json()).toMatchObject({
      error: { message: `There is no field ${field}: its name is ${name}` },
    })
    expect(upstream.requests).toEqual([])
  },
)

it('passes names that anybody may choose, in any case', async () => {
  const { chat, sent } = await testGateway({ upstream: () => completion() })
  const tool = {
    type: 'function',
    function: { name: 'f', parameters: { type: 'object', properties: { Content: {} } } },
  }
  const fields = { tools: [tool], someField: 1 }
  expect((await chat(fields)).status).toBe(200)
  expect(sent()).toMatchObject(fields)
})
