// A program that uses the platform at PLATFORM_URL as the administrator. It prints what it saw as JSON.
import { createClient } from '@turnpike/client'

const { PLATFORM_URL: baseUrl, ADMIN_PASSWORD: password } = process.env
const turnpike = createClient({ baseUrl })

const { email } = await turnpike.signIn({ email: 'admin@localhost', password })
const renewed = await turnpike.refresh()
const { id } = await turnpike.post('/api/projects', { body: { name: 'Website' } })
const tasks = []
for (const title of ['a', 'b', 'c']) tasks.push(await turnpike.post('/api/tasks', { body: { projectId: id, title } }))
const page = await turnpike.list('/api/tasks', { query: { projectId: id, limit: 2 } })
const rest = await turnpike.list('/api/tasks', { query: { projectId: id, limit: 2, after: page.next } })

let reply = ''
const messages = '/api/projects/{id}/conversation/messages'
for await (const { choices } of turnpike.stream(messages, { params: { id }, body: { text: 'Grüße 🚀' } }))
  reply += choices[0]?.delta.content ?? ''

let answer = ''
const chat = { model: 'gpt-4o-mini', messages: [{ role: 'user', content: 'Hello' }] }
for await (const { choices } of turnpike.stream('/api/gateway/v1/chat/completions', { body: chat }))
  answer += choices[0]?.delta.content ?? ''

const controller = new AbortController()
let reason
try {
  for await (const chunk of turnpike.stream('/api/gateway/v1/chat/completions', {
    body: chat,
    signal: controller.signal,
  }))
    if (chunk) controller.abort(new Error('Enough'))
} catch (error) {
  reason = error.message
}

const progress = []
const file = await turnpike.upload(new Blob(['x'.repeat(1_000_000)], { type: 'text/plain' }), {
  name: 'x.txt',
  fields: { isPublic: true },
  onProgress: (told) => progress.push(told),
})
const { length } = await (await fetch(file.url)).text()

await turnpike.signOut()
const status = await turnpike.get('/api/account').catch((error) => error.status)

console.log(
  JSON.stringify({
    emails: [email, renewed.email],
    pages: [page, rest].map(({ items }) => items.length),
    titles: [...page.items, ...rest.items].map(({ title }) => title).toSorted(),
    next: [typeof page.next, typeof rest.next],
    reply,
    answer,
    reason,
    progress,
    length,
    status,
  }),
)
