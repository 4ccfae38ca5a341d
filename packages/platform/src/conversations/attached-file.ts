import { requireScope } from '@turnpike/http'
import * as v from 'valibot'
import type { FileRouteParts } from '../files/file-view.js'
import { urlOf } from '../files/file-view.js'
import { operation } from '../operation.js'
import { AttachedFile } from '../schemas-members.js'
import type { ConversationOperations } from './conversations.js'

export const attachedFilePath = '/api/projects/{id}/conversation/messages/{messageId}/files/{fileId}'

/** GET {@link attachedFilePath} */
export const attachedFile = (parts: FileRouteParts, conversations: ConversationOperations) =>
  operation({
    id: 'conversations.file',
    summary: 'A file of a message, with the URL of its bytes, for whoever may read the message.',
    access: 'user',
    params: v.object({ id: v.string(), messageId: v.string(), fileId: v.string() }),
    output: AttachedFile,
    errors: [404],
    async run(caller, { params }, call) {
      requireScope(caller!.who, 'files', 'read')
      const { file, urlState } = await conversations.file(caller!.user.id, params.id, params.messageId, params.fileId)
      const { id, display_name, mime_type, size_bytes } = file
      return { id, display_name, mime_type, size_bytes, url: await urlOf(file, urlState, call, parts) }
    },
  })
