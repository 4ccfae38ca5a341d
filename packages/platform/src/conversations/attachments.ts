import type { ContentPart, Memory } from '@turnpike/core'
import { toBase64 } from '@turnpike/core/helpers'
import { invalid } from '@turnpike/core/internal'
import { ATTACHED } from '../conventions.js'
import { notFound } from '../errors.js'
import { utf8Check } from '../files/file-types.js'
import type { FileOperations } from '../files/files.js'
import type { StoredFile } from '../files/stored-files.js'
import type { Attachment } from '../schemas.js'

/** Pictures that models read. */
const PICTURE = /^image\/(?:png|jpeg|gif|webp)$/

/** How a file is sent to a model; undefined for what is a text if its bytes are. */
const kindOf = ({ mime_type, inline }: StoredFile): 'picture' | 'document' | undefined =>
  inline && PICTURE.test(mime_type) ? 'picture' : mime_type === 'application/pdf' ? 'document' : undefined

/** Bytes that a file takes of {@link ATTACHED}, and characters of text at most. */
const sizeOf = (file: StoredFile) => ({ bytes: file.size_bytes, text: kindOf(file) ? 0 : file.size_bytes })

/** Counts what is attached, until it is too much. */
function attachedSize(): (file: StoredFile) => boolean {
  let [bytes, text] = [0, 0]
  return (file) => {
    const size = sizeOf(file)
    if (bytes + size.bytes > ATTACHED.bytes || text + size.text > ATTACHED.textBytes) return false
    bytes += size.bytes
    text += size.text
    return true
  }
}

/** A file that a user attached to a message, in words for the model that it is not sent to. */
const left = (name: string, why: string): ContentPart => ({ type: 'text', text: `[The file ${name} ${why}]` })

/** What can be done with the files that are attached to messages. @param files undefined where users have none */
export function attachments(files: FileOperations | undefined) {
  /** A file that is attached already: whoever may read its message may read it. Null where it is gone, as in the trash, or held back. */
  const served = async (id: string): Promise<StoredFile | null> => (files ? (await files.served(id)).file : null)
  const read = async (file: StoredFile): Promise<Uint8Array> => {
    const bytes = new Uint8Array(file.size_bytes)
    let at = 0
    for await (const chunk of await files!.read(file)) {
      bytes.set(chunk, at)
      at += chunk.length
    }
    return bytes
  }
  const isText = async (file: StoredFile): Promise<boolean> => {
    const check = utf8Check()
    check(await read(file))
    return check()
  }

  /** @param filename what it was called when it was attached, which all have seen */
  const partOf = async (file: StoredFile, filename: string): Promise<ContentPart> => {
    const { mime_type } = file
    const kind = kindOf(file)
    const bytes = await read(file)
    if (!kind) return { type: 'text', text: `File ${filename}:\n\n${new TextDecoder().decode(bytes)}` }
    const url = `data:${mime_type};base64,${toBase64(bytes)}`
    return kind === 'picture'
      ? { type: 'image_url', image_url: { url } }
      : { type: 'file', file: { filename, file_data: url } }
  }

  return {
    /**
     * The files of the user that a message is to have.
     * @throws ApiError 404 for one that is not there, 400 for what models do not read, and for more than {@link ATTACHED}
     */
    async of(userId: string, ids: readonly string[]): Promise<Attachment[]> {
      const fits = attachedSize()
      const attached: Attachment[] = []
      for (const id of ids) {
        const file = await served(id)
        if (file?.user_id !== userId) throw notFound('file')
        const { display_name, mime_type, size_bytes } = file
        if (!fits(file)) throw invalid(`${display_name} is too large to be attached`, { field: 'attachments' })
        if (!kindOf(file) && !(await isText(file)))
          throw invalid(`${display_name} is no picture, PDF or text that a model could read`, { field: 'attachments' })
        // What is no picture but is named one is sent as text, and counts as that among the messages of others.
        const isMisnamed = mime_type.startsWith('image/') && !kindOf(file)
        attached.push({ id: file.id, display_name, mime_type: isMisnamed ? 'text/plain' : mime_type, size_bytes })
      }
      return attached
    },
    /**
     * Messages with the files that are attached to them, in place of which words stand where they are gone, or more than {@link ATTACHED}; the last
     * ones are sent first of all.
     * @param isFormer whether a message is of somebody who is no member any more, whose files, which a model may refuse, are not sent
     * @param memory what their bytes are taken from
     */
    async sent<M extends { role: unknown; text: string; attachments?: Attachment[] | undefined }>(
      messages: readonly M[],
      isFormer: (message: M) => boolean,
      memory: Memory | undefined,
    ): Promise<{ role: M['role']; content: string | ContentPart[] }[]> {
      const fits = attachedSize()
      const sent: { role: M['role']; content: string | ContentPart[] }[] = []
      for (const message of messages.toReversed()) {
        const { role, text, attachments = [] } = message
        const parts: ContentPart[] = []
        for (const { id, display_name } of attachments) {
          const file = isFormer(message) ? undefined : await served(id)
          if (file === undefined) parts.push(left(display_name, 'is left out, since who sent it has left'))
          else if (!file) parts.push(left(display_name, 'is not there any more'))
          else if (!fits(file)) parts.push(left(display_name, 'is left out, since too much is attached'))
          else {
            // Its bytes, and their base64.
            memory?.take(3 * file.size_bytes)
            parts.push(await partOf(file, display_name))
          }
        }
        sent.push({ role, content: parts.length > 0 ? [{ type: 'text', text }, ...parts] : text })
      }
      return sent.toReversed()
    },
  }
}
