import { afterEach, describe, expect, it, vi } from 'vitest'

const vectors = [
  ['', 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855'],
  ['abc', 'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad'],
  ['ü€😀', 'bec2d3e7c2047c817dc4c8c4e13f7a4801bb0c7f8798e3ac3e2fd65d71cb4993'],
] as const

/** @param crypto in place of node:crypto; a test must not take `process` away, which the runner needs at any time */
const load = async (crypto?: () => object | undefined) => {
  const builtin = process.getBuiltinModule
  if (crypto)
    vi.spyOn(process, 'getBuiltinModule').mockImplementation(((name: string) =>
      name === 'node:crypto' ? crypto() : builtin(name)) as typeof builtin)
  vi.resetModules()
  return (await import('./sha256.js')).sha256
}

afterEach(() => {
  vi.restoreAllMocks()
  // Other files of this worker would get what was loaded without node:crypto.
  vi.resetModules()
})

describe('sha256', () => {
  it.each(vectors)('hashes %j synchronously on Node', async (text, hash) => {
    expect((await load())(text)).toBe(hash)
  })

  it.each(vectors)('hashes %j on a Node without crypto.hash', async (text, hash) => {
    const { createHash } = process.getBuiltinModule('node:crypto')
    expect((await load(() => ({ createHash })))(text)).toBe(hash)
  })

  it.each(vectors)('hashes %j by WebCrypto elsewhere', async (text, hash) => {
    const result = (await load(() => undefined))(text)
    expect(result).toBeInstanceOf(Promise)
    expect(await result).toBe(hash)
  })
})
