/** Error codes of Node, undici and Bun for failed connections and TLS handshakes. */
const codes =
  /^E(CONNREFUSED|NOTFOUND|AI_AGAIN|(HOST|NET)UNREACH)$|CONNECT_TIMEOUT|^ConnectionRefused|^FailedToOpenSocket|CERT|SSL|TLS/

/** Whether a failed call cannot have reached the upstream, because DNS, the connection or TLS failed. `fetch` has the code in `cause`. */
export function neverSent(error: unknown): boolean {
  for (let cause = error; typeof cause === 'object' && cause !== null; cause = (cause as Error).cause) {
    const { code } = cause as { code?: unknown }
    if (codes.test(String(code))) return true
  }
  return false
}
