import { describe, expect, it } from 'vitest'
import { envelope } from './envelope.js'

const { seal, unseal } = envelope('turnpike', 2)

describe('an envelope', () => {
  it('opens under its own name only, and only if complete', async () => {
    const sealed = await seal('a', { x: 'ü\n' })
    expect(await unseal('a', sealed)).toEqual({ x: 'ü\n' })
    expect(await unseal('b', sealed)).toBeUndefined()
    for (let end = 0; end < sealed.length; end++) expect(await unseal('a', sealed.slice(0, end))).toBeUndefined()
  })

  it('of a newer version is distinguished from a broken one', async () => {
    const sealed = await seal('a', {})
    await expect(unseal('a', sealed.replace('turnpike 2', 'turnpike 10'))).rejects.toThrow('the form "turnpike 10"')
    expect(await unseal('a', sealed.replace('turnpike', 'turnstile'))).toBeUndefined()
  })
})
