import { setImmediate as nextTurn } from 'node:timers/promises'
import { expect, it, vi } from 'vitest'
import { post } from './post.js'

const text = { subject: 'A subject', before: ['One.'], after: [] }

it('tells what became of a message, and never rejects', async () => {
  const told: unknown[] = []
  const of = (send: () => Promise<void>) => post({ send }, (error, context) => told.push([String(error), context]))
  expect(await post(undefined, undefined).send('ada@example.org', text)).toEqual({ mail: 'none' })
  expect(await of(async () => undefined).send('ada@example.org', text)).toEqual({ mail: 'sent' })
  const failing = of(() => Promise.reject(new Error(`550 No\r\n\u202esuch user ${'x'.repeat(300)}`)))
  const { mail, mail_error } = await failing.send('ada@example.org', text)
  // Of 200 characters, three have become one space.
  expect([mail, mail_error?.length]).toEqual(['failed', 198])
  expect(mail_error).toMatch(/^550 No such user x+$/)
  expect(told).toEqual([[expect.stringContaining('550'), { mail: 'A subject' }]])
})

it('waits for what is done later, as long as it may', async () => {
  let release!: () => void
  const held = new Promise<void>((resolve) => (release = resolve))
  const told: unknown[] = []
  const { later, drain } = post(undefined, (error) => told.push(error))
  await drain(60_000)
  const done: string[] = []
  const begun = vi.fn()
  later(async () => {
    begun()
    await held
    await nextTurn()
    done.push('one')
  })
  later(() => Promise.reject(new Error('the store is away')))
  await nextTurn()
  // What a request asks for begins when its answer is out.
  expect(begun).not.toHaveBeenCalled()
  await drain(1)
  expect(done).toEqual([])
  const drained = drain(60_000)
  release()
  await drained
  expect(done).toEqual(['one'])
  expect(told).toEqual([new Error('the store is away')])
})
