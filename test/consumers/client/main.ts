import type { Schemas } from '@turnpike/client'
import { createClient, PlatformError } from '@turnpike/client'

/** Signs in, makes a project and talks about it; the error for one that there is not. */
export async function use(
  baseUrl: string,
  credentials: { email: string; password: string },
): Promise<{ projects: Schemas['Project'][]; reply: string; status: number | undefined }> {
  const turnpike = createClient({ baseUrl })
  await turnpike.signIn(credentials)
  const { id } = await turnpike.post('/api/projects', { body: { name: 'Website' } })
  let reply = ''
  const messages = '/api/projects/{id}/conversation/messages'
  for await (const { choices } of turnpike.stream(messages, { params: { id }, body: { text: 'Hello' } }))
    reply += choices[0]?.delta.content ?? ''
  const { items } = await turnpike.list('/api/projects', { query: { limit: 10 } })
  const error: unknown = await turnpike.get('/api/projects/{id}', { params: { id: 'none' } }).catch((thrown) => thrown)
  return { projects: items, reply, status: error instanceof PlatformError ? error.status : undefined }
}
