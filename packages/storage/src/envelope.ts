import { StorageError } from '@turnpike/core'
import { sha256 } from '@turnpike/core/internal'

const checksum = async (text: string): Promise<string> => (await sha256(text)).slice(0, 16)

/** How a store writes its items: as text that shows whether it is whole and of which form it is, and that no reader takes for JSON. */
export interface Envelope {
  /** The text to store under a name. */
  seal(name: string, content: object): Promise<string>
  /** What {@link seal} made `text` of, as JSON, or nothing if that is not it. @throws StorageError where a later Turnpike wrote it */
  jsonOf(name: string, text: string): Promise<string | undefined>
  /** The same, parsed. */
  unseal<T>(name: string, text: string): Promise<T | undefined>
}

/**
 * @param kind letters and dashes
 * @param version goes up with each change of what is stored
 */
export function envelope(kind: string, version: number): Envelope {
  const present = `${kind} ${version}`
  const sealed = new RegExp(`^(${kind} \\d+) (\\w{16}) (.*)$`, 's')
  const jsonOf = async (name: string, text: string): Promise<string | undefined> => {
    const [, form, sum, json] = sealed.exec(text) ?? []
    if (json === undefined || (await checksum(name + json)) !== sum) return undefined
    if (form !== present)
      throw new StorageError(
        `The store has the form "${form}", and this version reads "${present}"; use a newer one`,
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
