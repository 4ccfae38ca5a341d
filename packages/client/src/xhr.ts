import type { Transport } from './send.js'
import type { UploadProgress } from './upload.js'

/** The part of XMLHttpRequest that is used. */
interface XHR {
  upload: {
    addEventListener(
      type: 'progress',
      listener: (event: { loaded: number; total: number; lengthComputable: boolean }) => void,
    ): void
  }
  status: number
  responseText: string
  addEventListener(type: 'load' | 'error', listener: () => void): void
  open(method: string, url: string): void
  setRequestHeader(name: string, value: string): void
  getAllResponseHeaders(): string
  send(body: unknown): void
  abort(): void
}

/** That of browsers; other runtimes have none. */
export const { XMLHttpRequest } = globalThis as { XMLHttpRequest?: new () => XHR }

/** The name and the value of each line. */
const headersOf = (lines: string): [string, string][] =>
  lines
    .split('\r\n')
    .filter((line) => line !== '')
    .map((line) => [line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 1)])

/** Sends requests by XMLHttpRequest, which tells how far an upload is, as `fetch` cannot. */
export const xhrTransport =
  (Request: new () => XHR, onProgress: (progress: UploadProgress) => void): Transport =>
  (url, { method, headers, body, signal }) =>
    new Promise((resolve, reject) => {
      const request = new Request()
      const abort = (): void => {
        request.abort()
        reject(signal!.reason)
      }
      if (signal?.aborted) return abort()
      signal?.addEventListener('abort', abort)
      const onEnd = (type: 'load' | 'error', settle: () => void): void =>
        request.addEventListener(type, () => {
          signal?.removeEventListener('abort', abort)
          settle()
        })
      onEnd('load', () => {
        const { status, responseText } = request
        resolve(new Response(responseText, { status, headers: headersOf(request.getAllResponseHeaders()) }))
      })
      onEnd('error', () => reject(new TypeError('The upload failed')))
      request.upload.addEventListener('progress', ({ loaded, total, lengthComputable }) =>
        onProgress({ loaded, total: lengthComputable ? total : undefined }),
      )
      request.open(method!, url)
      for (const [name, value] of Object.entries(headers as Record<string, string>))
        request.setRequestHeader(name, value)
      request.send(body)
    })
