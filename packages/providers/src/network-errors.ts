/** Codes of Node, undici and Bun for a connection that never came about, or for one whose TLS did not. */
const codes =
  /^E(CONNREFUSED|NOTFOUND|AI_AGAIN|(HOST|NET)UNREACH)$|CONNECT_TIMEOUT|^ConnectionRefused|^FailedToOpenSocket|CERT|SSL|TLS/

/** Whether a failed call cannot have reached the upstream: no connection, no address, or no TLS. `fetch` hides the code in `cause`. */
export function neverSent(error: unknown): boolean {
  for (let cause = error; typeof cause === 'object' && cause !== null; cause = (cause as Error).cause) {
    const { code } = cause as { code?: unknown }
    if (codes.test(String(code))) return true
  }
  return false
}
