// A page of a user's app: two clients, one with the session cookie and one whose session all tabs share.
import { createClient, indexedDBStore } from '@turnpike/client'

const signedOut = []
const onSignedOut = () => signedOut.push(new Date().toISOString())

const messages = '/api/projects/{id}/conversation/messages'

Object.assign(globalThis, {
  signedOut,
  byCookie: createClient({ onSignedOut }),
  byToken: createClient({ session: indexedDBStore(), onSignedOut }),
  elsewhere: createClient({ baseUrl: 'https://other.example', session: indexedDBStore() }),

  /** A project with a message and its reply. */
  async converse(client) {
    const { id } = await client.post('/api/projects', { body: { name: 'Website' } })
    let text = ''
    for await (const { choices } of client.stream(messages, { params: { id }, body: { text: 'Hi' } }))
      text += choices[0]?.delta.content ?? ''
    return { id, text }
  },

  /** Uploads so many bytes, and is aborted once so many are sent. */
  async upload(client, bytes, abortAt = Infinity) {
    const controller = new AbortController()
    const steps = []
    const sent = client.upload(new File([new Uint8Array(bytes)], 'a.bin'), {
      fields: { displayName: 'My bytes' },
      signal: controller.signal,
      onProgress: ({ loaded, total }) => {
        steps.push([loaded, total])
        if (loaded >= abortAt) controller.abort(new Error('Enough'))
      },
    })
    return sent.then(
      (file) => ({ size: file.size_bytes, name: file.display_name, steps }),
      (error) => ({ error: error.message, status: error.status, steps }),
    )
  },

  /** The statuses of so many requests at once. */
  ask: (client, times) =>
    Promise.all(
      Array.from({ length: times }, () =>
        client.get('/api/account').then(
          () => 200,
          ({ status }) => status,
        ),
      ),
    ),
})
