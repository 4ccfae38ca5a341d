interface NodeCrypto {
  createHash(name: string): { update(data: string | Uint8Array): { digest(encoding: 'hex'): string } }
  /** Node 20.12 and later: about three times as fast as `createHash` for short texts. */
  hash?(name: string, data: string | Uint8Array, encoding: 'hex'): string
}

// With getBuiltinModule, code that also runs on workers can use node:crypto without importing it.
const { process } = globalThis as { process?: { getBuiltinModule?(name: string): NodeCrypto | undefined } }
const node = process?.getBuiltinModule?.('node:crypto')

const subtle = async (data: string | Uint8Array): Promise<string> => {
  const digest = await crypto.subtle.digest(
    'SHA-256',
    typeof data === 'string' ? new TextEncoder().encode(data) : (data as Uint8Array<ArrayBuffer>),
  )
  return Array.from(new Uint8Array(digest), (byte) => byte.toString(16).padStart(2, '0')).join('')
}

/** SHA-256 of a text or of bytes, in hexadecimal: synchronous if node:crypto is available, otherwise a promise. */
export const sha256: (data: string | Uint8Array) => string | Promise<string> = node
  ? node.hash
    ? (data) => node.hash!('sha256', data, 'hex')
    : (data) => node.createHash('sha256').update(data).digest('hex')
  : subtle
