import type { Model, Provider, Router } from '@turnpike/core'
import { ApiError } from '@turnpike/core'

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

  let catalogue: Map<string, Provider[]> | undefined
  /** The providers that list a model id, in order of preference. */
  const listing = async (model: string): Promise<Provider[]> => {
    if (!catalogue) {
      const models = await listed()
      catalogue = new Map()
      for (const { id, provider } of models) catalogue.set(id, [...(catalogue.get(id) ?? []), byId.get(provider)!])
    }
    return catalogue.get(model) ?? []
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
      const able = (provider: Provider): boolean => capability in provider

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
        found = await listing(model)
        if (found.length === 0) found = providers.filter((provider) => provider.owns?.(model))
      }
      found = found.filter(able)
      if (model === '' || found.length === 0) throw unknownModel(request.model)
      return found.map((provider) => ({ provider, model }))
    },
    async models({ provider } = {}) {
      const all = await listed()
      return provider === undefined ? all : all.filter((model) => model.provider === (aliases[provider] ?? provider))
    },
  }
}
