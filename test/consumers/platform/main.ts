import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { createClient } from '@turnpike/client'
import { credentials, server } from './serve.js'

await once(server.listen(0, '127.0.0.1'), 'listening')
const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`

const turnpike = createClient({ baseUrl })
await turnpike.signIn(credentials)
const { id } = await turnpike.post('/api/projects', { body: { name: 'Website' } })
let reply = ''
const messages = '/api/projects/{id}/conversation/messages'
for await (const { choices } of turnpike.stream(messages, { params: { id }, body: { text: 'Hello' } }))
  reply += choices[0]?.delta.content ?? ''
const { items } = await turnpike.list('/api/projects')

/** The title of a page, and the statuses of what it loads. */
async function load(path: string) {
  const page = await fetch(baseUrl + path)
  const html = await page.text()
  const loaded = [...html.matchAll(/<(?:script[^>]* src|link[^>]* href)="([^"#]+)"/g)]
  const statuses = await Promise.all(loaded.map(async ([, url]) => (await fetch(new URL(url!, page.url))).status))
  return { title: /<title>(.*)<\/title>/.exec(html)?.[1], statuses }
}

const projects = items.map(({ name }) => name)
console.log(JSON.stringify({ projects, reply, admin: await load('/admin'), docs: await load('/docs') }))
server.close()
