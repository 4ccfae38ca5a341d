// A gateway with guards, which prints its address.
import { createUser, memoryKV } from '@turnpike/core'
import { createGateway, refuse } from '@turnpike/gateway'
import { createRouter, openai } from '@turnpike/providers'

const { OPENAI_BASE_URL: baseURL, GATEWAY_KEY, LIMITED_KEY } = process.env
const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms))
const said = ({ task, request }) => (task === 'chat' ? request.messages.at(-1).content : '')

const guards = [
  {
    name: 'secrets',
    lookBack: 30,
    text: (text) => text.replace(/sk-[a-z0-9]{20}/g, '[removed]'),
  },
  {
    name: 'rules',
    lookBack: 10,
    async text(text, asked) {
      if (said(asked) === 'slowly') await pause(150)
      if (text.includes('forbidden')) throw refuse('This answer is against the rules')
    },
    answer({ task, answer }) {
      if (task === 'chat' && answer.choices[0].message.content.endsWith('wrong in the end'))
        throw refuse('This answer is against the rules')
    },
  },
  {
    name: 'cache',
    request: (asked) =>
      said(asked) === 'kept'
        ? {
            answer: {
              id: 'chatcmpl-kept',
              object: 'chat.completion',
              created: 1,
              model: 'gpt-4o',
              choices: [
                {
                  index: 0,
                  message: { role: 'assistant', content: 'kept sk-abcdefghij0123456789' },
                  finish_reason: 'stop',
                },
              ],
              usage: { prompt_tokens: 7, completion_tokens: 5, total_tokens: 12 },
            },
          }
        : undefined,
  },
  {
    name: 'hangs',
    request: (asked) => (said(asked) === 'hang' ? new Promise(() => {}) : undefined),
  },
]

const kv = await memoryKV()
const gateway = createGateway({
  router: createRouter({ providers: [openai({ apiKey: 'sk-upstream', baseURL })] }),
  kv,
  guards,
  guardMs: 1_000,
  heartbeatMs: 50,
})
const { id } = await createUser(kv, { role: 'admin' })
await gateway.keys.create(id, { name: 'all', rateLimit: 1_000_000, key: GATEWAY_KEY })
await gateway.keys.create(id, { name: 'limited', models: ['gpt-4o-mini'], budget: { usd: 1 }, key: LIMITED_KEY })

let port
if ('Bun' in globalThis) {
  port = Bun.serve({ fetch: (request) => gateway.fetch(request), hostname: '127.0.0.1', port: 0, idleTimeout: 0 }).port
} else {
  const { createServer } = await import('@turnpike/http/node')
  const server = createServer(gateway)
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve))
  port = server.address().port
}
console.log(`listening on http://127.0.0.1:${port}`)
