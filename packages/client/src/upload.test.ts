import { describe, expect, it } from 'vitest'
import { failure, signedInClient } from '../../../test/support/client.js'

describe('an upload', () => {
  it('has a name and fields, which stand before the file', async () => {
    const { turnpike, faults } = await signedInClient()
    const seen: string[] = []
    faults.push(
      (request) =>
        void request
          .clone()
          .text()
          .then((text) => seen.push(text)),
    )
    const file = await turnpike.upload(new Blob(['Hello'], { type: 'text/plain' }), {
      name: 'a.txt',
      fields: { displayName: 'My file', isPublic: true },
    })
    expect(file).toMatchObject({ display_name: 'My file', size_bytes: 5, mime_type: 'text/plain', is_public: true })
    await expect
      .poll(() => seen[0]?.match(/name="\w+"/g))
      .toEqual(['displayName', 'isPublic', 'file'].map((name) => `name="${name}"`))
  })

  it('has the name of a File, and needs none', async () => {
    const { turnpike } = await signedInClient()
    expect(await turnpike.upload(new File(['Hello'], 'b.txt'))).toMatchObject({ display_name: 'b.txt' })
    expect(await turnpike.upload(new Blob(['Hello']))).toMatchObject({ display_name: 'file', is_public: false })
  })

  it('tells its end, where it cannot tell more', async () => {
    const { turnpike } = await signedInClient()
    const told: object[] = []
    await turnpike.upload(new Blob(['Hello']), { onProgress: (progress) => told.push(progress) })
    expect(told).toEqual([{ loaded: 5, total: 5 }])
    await failure(
      turnpike.upload(new Blob([]), { fields: { displayName: '' }, onProgress: (progress) => told.push(progress) }),
    )
    expect(told).toHaveLength(1)
  })

  it('ends with the reason of its signal', async () => {
    const { turnpike } = await signedInClient()
    const reason = new Error('No longer needed')
    expect(await failure(turnpike.upload(new Blob(['Hello']), { signal: AbortSignal.abort(reason) }))).toBe(reason)
    expect(await turnpike.list('/api/user-files')).toEqual({ items: [], next: undefined })
  })
})
