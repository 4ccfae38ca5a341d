import { StorageError } from '@turnpike/core'
import { sha256 } from '@turnpike/core/helpers'

/** The checksum of a text or of bytes: 16 hexadecimal digits. */
export const checksum = async (data: string | Uint8Array): Promise<string> => (await sha256(data)).slice(0, 16)

/** The text format of stored items: a format version, a checksum and JSON. It is not valid JSON, so that no driver parses it. */
export interface Envelope {
  /** Encodes `content`. The checksum includes `name`, so that the text is valid only under that name. */
  seal(name: string, content: object): Promise<string>
  /** The JSON in a sealed text of this format or an earlier one; undefined if it is corrupt or was sealed under another name. @throws StorageError for a newer format */
  jsonOf(name: string, text: string): Promise<string | undefined>
  /** Like {@link jsonOf}, but parsed. */
  unseal<T>(name: string, text: string): Promise<T | undefined>
}

/**
 * Makes an envelope.
 * @param kind letters and dashes
 * @param version of the stored format; increases with each change of it
 */
export function envelope(kind: string, version: number): Envelope {
  const present = `${kind} ${version}`
  const sealed = new RegExp(`^${kind} (\\d+) (\\w{16}) (.*)$`, 's')
  const jsonOf = async (name: string, text: string): Promise<string | undefined> => {
    const [, form, sum, json] = sealed.exec(text) ?? []
    if (json === undefined || (await checksum(name + json)) !== sum) return undefined
    if (Number(form) > version)
      throw new StorageError(
        `The store has the form "${kind} ${form}", and this version reads "${present}"; use a newer one`,
        'none',
      )
    return json
  }
  return {
    jsonOf,
    async seal(name, content) {
      const json = JSON.stringify(content)
      return `${present} ${await checksum(name + json)} ${json}`
    },
    async unseal<T>(name: string, text: string) {
      const json = await jsonOf(name, text)
      return json === undefined ? undefined : (JSON.parse(json) as T)
    },
  }
}
