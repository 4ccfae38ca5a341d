import { describe, expect, it, vi } from 'vitest'
import { scryptHasher } from './passwords.js'

const quick = { ln: 8, r: 8, p: 1 }
const hasher = scryptHasher(quick)

describe('scryptHasher', () => {
  it('makes PHC strings, each with a salt of its own', async () => {
    const [one, other] = [await hasher.hash('a password'), await hasher.hash('a password')]
    expect(one).toMatch(/^\$scrypt\$ln=8,r=8,p=1\$[A-Za-z0-9+/]{22}\$[A-Za-z0-9+/]{43}$/)
    expect(one).not.toBe(other)
    expect([await hasher.verify('a password', one), await hasher.verify('a Password', one)]).toEqual([true, false])
  })

  it('verifies what others made', async () => {
    // RFC 7914, section 12: scrypt("password", "NaCl", 1024, 8, 16, 64).
    const hash = Buffer.from(
      'fdbabe1c9d3472007856e7190d01e9fe7c6ad7cbc8237830e77376634b3731622eaf30d92e22a3886ff109279d9830dac727afb94a83ee6d8360cbdfa2cc0640',
      'hex',
    )
    const text = (bytes: Buffer): string => bytes.toString('base64').replaceAll('=', '')
    const phc = `$scrypt$ln=10,r=8,p=16$${text(Buffer.from('NaCl'))}$${text(hash)}`
    expect([await hasher.verify('password', phc), await hasher.verify('Password', phc)]).toEqual([true, false])
  })

  it('takes a password however it was typed', async () => {
    const composed = await hasher.hash('caf\u00e9 ﬁn')
    expect(await hasher.verify('cafe\u0301 fin', composed)).toBe(true)
  })

  it('wants another hash where its parameters have changed', async () => {
    const hash = await hasher.hash('a password')
    expect(hasher.needsRehash(hash)).toBe(false)
    expect(scryptHasher({ ...quick, ln: 9 }).needsRehash(hash)).toBe(true)
    expect(scryptHasher({ ...quick, ln: 9 }).needsRehash('$2b$10$x')).toBe(true)
  })

  it('verifies nothing by a hash of another kind', async () => {
    for (const hash of ['', '$2b$10$abc', '$scrypt$ln=8,r=8,p=1$$', '$scrypt$ln=8,r=8,p=1$a*$b'])
      expect(await hasher.verify('a password', hash)).toBe(false)
  })

  it('takes the same work for a wrong password, whatever work its hash took', async () => {
    const spy = vi.spyOn(process.getBuiltinModule('node:crypto'), 'scrypt')
    try {
      const costly = scryptHasher({ ln: 11, r: 8, p: 3 })
      const hashes = [await costly.hash('x'), '$2b$10$abc']
      for (const cost of [{ ln: 9 }, { ln: 10, p: 5 }, { r: 4 }, { ln: 11, p: 1 }])
        hashes.push(await scryptHasher({ ln: 8, r: 8, p: 3, ...cost }).hash('x'))
      const works: number[] = []
      for (const hash of hashes) {
        spy.mockClear()
        expect(await costly.verify('y', hash)).toBe(false)
        works.push(spy.mock.calls.reduce((sum, [, , , { N, r, p }]) => sum + N! * r! * p!, 0))
      }
      expect(works).toEqual(hashes.map(() => 2 ** 11 * 8 * 3))
    } finally {
      spy.mockRestore()
    }
  })

  it('hashes no more than 1,024 bytes', async () => {
    // One character of three bytes, and 18 of them in its normal form.
    await expect(hasher.hash('\ufdfa'.repeat(256))).rejects.toMatchObject({ status: 400 })
    expect(await hasher.hash('x'.repeat(1_024))).toContain('$scrypt$')
  })
})
