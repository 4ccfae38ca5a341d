import { extend } from '@turnpike/core/helpers'
import type { ChatAdapter } from '../adapter.js'
import type { Names } from '../family.js'

/** An adapter whose requests have the upstream's own names of models in the body, while their rules go by the ids. */
export const named = (chat: ChatAdapter, { nameOf }: Pick<Names, 'nameOf'>): ChatAdapter =>
  extend(chat, {
    request(request, refused) {
      const made = chat.request(request, refused)
      const model = nameOf(request.model)
      return model === request.model ? made : extend(made, { body: extend(made.body!, { model }) })
    },
  } satisfies Partial<ChatAdapter>)
