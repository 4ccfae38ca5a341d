import type { Transport } from './send.js'
import { XMLHttpRequest, xhrTransport } from './xhr.js'

/** How far an upload is, in bytes; `total` is undefined where the browser does not know it. */
export interface UploadProgress {
  loaded: number
  total: number | undefined
}

/** Options of `upload`. */
export interface UploadOptions {
  /** The name of the file; default that of a `File`, else `file`. */
  name?: string
  fields?: {
    /** What the file is called in lists; default its name. */
    displayName?: string
    /** Whether anybody can read it by its URL; default false. */
    isPublic?: boolean
  }
  /** Called as bytes are sent: in browsers several times, elsewhere once at the end. From the beginning again if the file is sent again. */
  onProgress?: (progress: UploadProgress) => void
  /** Ends the upload; it rejects with the reason of the signal. */
  signal?: AbortSignal | undefined
}

/** The form of an upload. Fields come first, so that the platform knows them before the bytes. */
export function formOf(file: Blob, { name, fields = {} }: UploadOptions): FormData {
  const form = new FormData()
  for (const [field, value] of Object.entries(fields)) if (value !== undefined) form.append(field, String(value))
  form.append('file', file, name ?? (file as Partial<File>).name ?? 'file')
  return form
}

/** The transport of an upload. @param mayTell whether XMLHttpRequest may be used, which tells the progress */
export function uploadTransport(
  fetch: Transport,
  file: Blob,
  onProgress: UploadOptions['onProgress'],
  mayTell: boolean,
): Transport {
  if (!onProgress) return fetch
  if (XMLHttpRequest && mayTell) return xhrTransport(XMLHttpRequest, onProgress)
  return async (url, init) => {
    const response = await fetch(url, init)
    if (response.ok) onProgress({ loaded: file.size, total: file.size })
    return response
  }
}
