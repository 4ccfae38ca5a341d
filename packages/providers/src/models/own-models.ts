import type { OwnModel } from '@turnpike/core'
import type { OptionNames } from '@turnpike/core/helpers'
import { checkOptions, isObject } from '@turnpike/core/helpers'
import { isModelId } from './upstream-models.js'

const names: OptionNames<OwnModel> = {
  id: true,
  upstream: false,
  price: false,
  contextWindow: false,
  maxOutput: false,
  capabilities: false,
}

/** The id of a member of a list of models. */
export const idOf = (model: string | OwnModel): string => (typeof model === 'string' ? model : model.id)

/** @throws TypeError that names what is wrong */
function checkModel(place: string, model: OwnModel): void {
  checkOptions(place, model, names)
  const { id, upstream = id, contextWindow = 1, maxOutput = 1, capabilities = [] } = model
  if (!isModelId(id)) throw new TypeError(`${place}: the option "id" must be the id of a model`)
  if (!isModelId(upstream)) throw new TypeError(`${place}: the option "upstream" must be a name of a model`)
  for (const [name, count] of Object.entries({ contextWindow, maxOutput }))
    if (!Number.isSafeInteger(count) || count < 1)
      throw new TypeError(`${place}: the option "${name}" must be a number of tokens`)
  if (!Array.isArray(capabilities)) throw new TypeError(`${place}: the option "capabilities" must be a list`)
}

/**
 * What a list of models says of them, by id. Prices are checked by the router, which charges them.
 * @param of what is made with the list, for errors
 * @param upstream further names at the upstream, by id
 * @throws TypeError that names what is wrong
 */
export function ownModels(
  of: string,
  models: readonly (string | OwnModel)[] | 'live' | undefined,
  upstream: Readonly<Record<string, string>> = {},
): Map<string, OwnModel> {
  if (models !== undefined && models !== 'live' && !Array.isArray(models))
    throw new TypeError(`${of}: the option "models" must be "live" or a list of ids`)
  const own = new Map(Object.entries(upstream).map(([id, name]): [string, OwnModel] => [id, { id, upstream: name }]))
  for (const [index, model] of (Array.isArray(models) ? (models as (string | OwnModel)[]) : []).entries()) {
    if (isModelId(model)) continue
    if (typeof model === 'string' || !isObject(model))
      throw new TypeError(`${of}: the option "models" must be "live" or a list of ids`)
    checkModel(`${of}: models[${index}]`, model)
    const { id } = model
    if (own.has(id) && (model.upstream !== undefined || !Object.hasOwn(upstream, id)))
      throw new TypeError(`${of}: the model "${id}" is there twice`)
    own.set(id, { ...own.get(id), ...model })
  }
  return own
}
