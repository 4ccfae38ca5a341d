/** Codes of Node, undici and Bun for a connection that never came about. */
const codes = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'UND_ERR_CONNECT_TIMEOUT',
  'ConnectionRefused',
  'FailedToOpenSocket',
])

/** Whether a failed call cannot have reached the upstream: no connection, no address, or no TLS. `fetch` hides the code in `cause`. */
export function neverSent(error: unknown): boolean {
  for (let cause = error; typeof cause === 'object' && cause !== null; cause = (cause as Error).cause) {
    const { code } = cause as { code?: unknown }
    if (typeof code === 'string' && (codes.has(code) || /CERT|^ERR_(SSL|TLS)|_TLS_/.test(code))) return true
  }
  return false
}
