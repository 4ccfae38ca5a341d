import { describe, expectTypeOf, it } from 'vitest'
import type { Client, Schemas } from './index.js'

/** Type-checks, and is never called. */
const calls = (turnpike: Client) => ({
  project: () => turnpike.post('/api/projects', { body: { name: 'Website', teamType: 'research' } }),
  projects: () => turnpike.get('/api/projects'),
  task: () => turnpike.get('/api/tasks/{id}', { params: { id: 'x' } }),
  trashed: () => turnpike.delete('/api/user-files/{id}', { params: { id: 'x' }, query: { permanent: 'true' } }),
  tasks: () => turnpike.list('/api/tasks', { query: { projectId: 'x', limit: 10 } }),
  messages: () => turnpike.list('/api/projects/{id}/conversation', { params: { id: 'x' }, query: { limit: 10 } }),
  reply: () =>
    turnpike.stream('/api/projects/{id}/conversation/messages', { params: { id: 'x' }, body: { text: 'Hi' } }),
  completion: () =>
    turnpike.post('/api/gateway/v1/chat/completions', {
      body: { model: 'gpt-4o-mini', messages: [{ role: 'user', content: 'Hi' }] },
    }),
  speech: () =>
    turnpike.post('/api/gateway/v1/audio/speech', { body: { model: 'tts-1', input: 'Hi', voice: 'alloy' } }),
  bytes: () => turnpike.get('/api/user-files/{id}/content', { params: { id: 'x' } }),
})
type Calls = ReturnType<typeof calls>
type Result<K extends keyof Calls> = Awaited<ReturnType<Calls[K]>>

describe('what the OpenAPI documents describe has types', () => {
  it('answers', () => {
    expectTypeOf<Result<'project'>>().toEqualTypeOf<Schemas['Project']>()
    expectTypeOf<Result<'projects'>>().toEqualTypeOf<Schemas['Project'][]>()
    expectTypeOf<Result<'task'>['status']>().toEqualTypeOf<
      'scheduled' | 'running' | 'waiting_approval' | 'done' | 'failed'
    >()
    expectTypeOf<Result<'trashed'>>().toEqualTypeOf<undefined>()
    expectTypeOf<Result<'completion'>['choices'][number]['message']['content']>().toEqualTypeOf<string | null>()
    expectTypeOf<Result<'speech'>>().toEqualTypeOf<Blob>()
    expectTypeOf<Result<'bytes'>>().toEqualTypeOf<Blob>()
  })

  it('items of lists, and events', () => {
    expectTypeOf<Result<'tasks'>['items']>().toEqualTypeOf<Schemas['Task'][]>()
    expectTypeOf<Result<'messages'>['items']>().toEqualTypeOf<Schemas['Message'][]>()
    expectTypeOf<ReturnType<Calls['reply']>>().toEqualTypeOf<AsyncGenerator<Schemas['ChatChunk'], void, undefined>>()
  })

  it('and nothing else compiles', () => {
    /** Type-checks, and is never called. */
    const wrong = (turnpike: Client) => [
      // @ts-expect-error no such path
      turnpike.get('/api/nothing'),
      // @ts-expect-error no such method
      turnpike.post('/api/tasks/{id}', { params: { id: 'x' } }),
      // @ts-expect-error no params
      turnpike.get('/api/tasks/{id}'),
      // @ts-expect-error another param
      turnpike.get('/api/tasks/{id}', { params: { task: 'x' } }),
      // @ts-expect-error no query
      turnpike.list('/api/results'),
      // @ts-expect-error a number
      turnpike.list('/api/projects', { query: { limit: 'ten' } }),
      // @ts-expect-error no list
      turnpike.list('/api/account'),
      // @ts-expect-error no list either
      turnpike.list('/api/keys/usage'),
      // @ts-expect-error no body
      turnpike.post('/api/projects'),
      // @ts-expect-error no such team
      turnpike.post('/api/projects', { body: { name: 'Website', teamType: 'none' } }),
      // @ts-expect-error no such field
      turnpike.post('/api/projects', { body: { name: 'Website', owner: 'x' } }),
      // @ts-expect-error no body at all
      turnpike.post('/api/users/{id}/restore', { params: { id: 'x' }, body: {} }),
      // @ts-expect-error no stream
      turnpike.stream('/api/projects', { body: { name: 'Website' } }),
      // @ts-expect-error signIn() does it, and keeps the session
      turnpike.post('/api/auth', { body: { email: 'ada@example.org', password: 'x' } }),
      // @ts-expect-error the gateway for browsers has no users
      turnpike.get('/api/gateway/v1/users'),
      // @ts-expect-error no such field of the form
      turnpike.upload(new Blob([]), { fields: { public: true } }),
    ]
    expectTypeOf(wrong).toBeFunction()
  })
})
