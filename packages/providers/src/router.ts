import type { Model, Provider, Router, Target } from '@turnpike/core'
import { ApiError, extend } from '@turnpike/core'
import { fidelityOf } from './fidelity.js'

export interface RouterOptions {
  /** In order of preference; `auto` takes the first that serves the model. */
  providers: Provider[]
}

/** Other words for a provider's id. */
const aliases: Record<string, string> = { gemini: 'google' }

const never = new AbortController().signal

/**
 * Finds the provider of a request: the `provider` field first, then the model id's prefix (`openai/gpt-4o`), then the catalogue,
 * then the family that such ids belong to.
 * @example createRouter({ providers: [openai({ apiKey })] })
 */
export function createRouter({ providers }: RouterOptions): Router {
  const byId = new Map(providers.map((provider) => [provider.id, provider]))
  const find = (word: string): Provider | undefined => byId.get(word) ?? byId.get(aliases[word] ?? '')

  const listed = async (): Promise<Model[]> =>
    (await Promise.all(providers.map((provider) => provider.models({ signal: never })))).flat()

  /** By model id: the providers that list it, in order of preference. */
  let catalogue: Map<string, Provider[]> | undefined
  const readCatalogue = async (): Promise<Map<string, Provider[]>> => {
    const read = new Map<string, Provider[]>()
    for (const { id, provider } of await listed()) read.set(id, [...(read.get(id) ?? []), byId.get(provider)!])
    return read
  }

  const unknownModel = (model: string): ApiError =>
    new ApiError(400, 'invalid_request_error', `No configured provider has the model "${model.slice(0, 100)}"`, {
      code: 'model_not_found',
    })

  return {
    async candidates({ capability, request }) {
      const { provider: wanted } = request
      const slash = request.model.indexOf('/')
      const prefixed = slash > 0 ? find(request.model.slice(0, slash)) : undefined
      const model = prefixed ? request.model.slice(slash + 1) : request.model

      let found: Provider[]
      if (wanted && wanted !== 'auto') {
        const named = find(wanted)
        if (!named) {
          const allowed = [...byId.keys(), 'auto'].map((id) => `"${id}"`).join(', ')
          throw new ApiError(400, 'invalid_request_error', `Unknown provider; the configured ones are ${allowed}`, {
            code: 'invalid_body',
          })
        }
        found = [named]
      } else if (prefixed) found = [prefixed]
      else {
        catalogue ??= await readCatalogue()
        found = catalogue.get(model) ?? providers.filter((provider) => provider.owns?.(model))
      }
      const targets: Target[] = []
      for (const provider of found)
        if (capability in provider) targets.push({ provider, model, price: undefined, catalogue: '' })
      if (model === '' || targets.length === 0) throw unknownModel(request.model)
      return targets
    },
    async models({ provider } = {}) {
      const all = await listed()
      return provider === undefined ? all : all.filter((model) => model.provider === find(provider)?.id)
    },
    async model(id) {
      const model = (await listed()).find((one) => one.id === id || `${one.provider}/${one.id}` === id)
      const chat = model && byId.get(model.provider)!.chat
      return chat ? extend(model, { fidelity: fidelityOf(chat, model.id) }) : model
    },
  }
}
