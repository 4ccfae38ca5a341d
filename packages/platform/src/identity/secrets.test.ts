import { memoryKV } from '@turnpike/core'
import { expect, it } from 'vitest'
import { sealing } from './secrets.js'

const [one, other] = ['a secret of at least 32 characters', 'b secret of at least 32 characters']

it('what is sealed is opened by the same secret and purpose only', async () => {
  const kv = await memoryKV()
  const sealed = await sealing(kv, [one], 'p').seal('plain')
  expect(sealed).not.toContain('plain')
  expect(await sealing(kv, [one], 'p').seal('plain')).not.toBe(sealed)
  expect(await sealing(kv, [one], 'p').unseal(sealed)).toEqual({ plain: 'plain', isCurrent: true })
  expect(await sealing(kv, [other, one], 'p').unseal(sealed)).toEqual({ plain: 'plain', isCurrent: false })
  for (const wrong of [sealing(kv, [other], 'p'), sealing(kv, [one], 'q'), sealing(kv, [], 'p')])
    expect(await wrong.unseal(sealed)).toBeNull()
})

it('what was changed, or is nothing of the kind, is not opened', async () => {
  const { seal, unseal } = sealing(await memoryKV(), [one], 'p')
  const sealed = await seal('plain')
  const changed = sealed.slice(0, 20) + (sealed[20] === 'A' ? 'B' : 'A') + sealed.slice(21)
  for (const text of [changed, sealed.slice(0, -4), '', 'no base64url!', 'AAAA']) expect(await unseal(text)).toBeNull()
})

it('without a secret, one that is kept in the store is used', async () => {
  const kv = await memoryKV()
  const sealed = await sealing(kv, [], 'p').seal('plain')
  expect(await sealing(kv, [], 'p').unseal(sealed)).toEqual({ plain: 'plain', isCurrent: true })
})
