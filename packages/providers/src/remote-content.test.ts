import { describe, expect, it } from 'vitest'
import { isPublic, remoteContent } from './remote-content.js'

const { signal } = new AbortController()
const get = remoteContent({ timeout: 2_000 })
const messageOf = (url: string): Promise<unknown> =>
  get(url, { signal, limit: 1_000 }).then(
    () => 'fetched',
    (error: Error) => error.message,
  )

describe('addresses', () => {
  it.each(['1.1.1.1', '8.8.8.8', '172.32.0.1', '192.0.1.1', '2606:4700:4700::1111', '2a00:1450::1'])(
    '%s is public',
    (address) => expect(isPublic(address)).toBe(true),
  )

  it.each([
    '0.0.0.0',
    '10.1.2.3',
    '100.64.0.1',
    '127.0.0.1',
    '127.255.255.254',
    '169.254.169.254',
    '172.16.0.1',
    '172.31.255.255',
    '192.0.0.8',
    '192.0.2.1',
    '192.168.1.1',
    '198.19.0.1',
    '203.0.113.9',
    '224.0.0.1',
    '240.0.0.1',
    '255.255.255.255',
    '::',
    '::1',
    'fe80::1',
    'fd00::1',
    'ff02::1',
    '::ffff:127.0.0.1',
    '::ffff:8.8.8.8',
    '64:ff9b::7f00:1',
    '2001:db8::1',
    '2002:7f00:1::',
    '2001:0:1::1',
    '3fff::1',
    'localhost',
    '',
  ])('"%s" is not public', (address) => expect(isPublic(address)).toBe(false))
})

describe('remote images', () => {
  it.each(['http://example.com/a.png', 'file:///etc/passwd', 'https://me:secret@example.com/a.png', 'nonsense', ''])(
    'are not fetched from %s',
    async (url) => expect(await messageOf(url)).toBe('Images are fetched from https URLs without credentials only'),
  )

  // All are notations of addresses of this machine or its network.
  it.each([
    '127.0.0.1',
    '127.1',
    '0x7f.1',
    '2130706433',
    '0',
    '[::1]',
    '[::ffff:7f00:1]',
    '[::ffff:127.0.0.1]',
    '１２７.０.０.１',
    '169.254.169.254',
    '10.0.0.1',
    'localhost',
    'localhost.',
    'LOCALHOST',
  ])('are not fetched from %s', async (host) =>
    expect(await messageOf(`https://${host}:1/a.png`)).toBe('An image could not be fetched from its URL'),
  )

  it('are not fetched for a caller that has disconnected', async () => {
    const left = AbortSignal.abort(new Error('left'))
    await expect(get('https://example.com/a.png', { signal: left, limit: 1 })).rejects.toThrow('left')
  })
})
