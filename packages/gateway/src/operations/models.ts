import type { Router } from '@turnpike/core'
import { Model, ModelList } from '@turnpike/core'
import * as v from 'valibot'
import { usableBy } from '../limits/allowed-models.js'
import type { Caller } from '../caller.js'
import { notFound } from '../errors.js'
import { operation } from '../operation.js'

/** Tells whether a caller may use a model, or one of a group. */
function nameableBy(router: Router, caller: Caller): (model: Model) => boolean {
  const mayUse = usableBy(router, caller)
  return ({ provider, id, members }) =>
    members
      ? members.some((member) => {
          const slash = member.indexOf('/')
          return mayUse(member.slice(0, slash), member.slice(slash + 1))
        })
      : mayUse(provider, id)
}

/** GET /v1/models: what the caller may name as `model`: groups, and the models of the configured providers. */
export const listModels = (router: Router) =>
  operation({
    id: 'models.list',
    summary: 'Lists the groups of models, and the models that the configured providers offer.',
    access: 'key',
    query: v.object({ provider: v.optional(v.string()) }),
    output: ModelList,
    // Of a token of the platform that is for something else.
    errors: [403],
    async run(caller: Caller, { query }) {
      const [groups, models] = await Promise.all([router.groups(query), router.models(query)])
      // The name of a group means the group, also where a model has the same.
      const named = router.state().groups
      const others = models.filter(({ id }) => !Object.hasOwn(named, id))
      return { object: 'list', data: [...groups, ...others].filter(nameableBy(router, caller)) }
    },
  })

/** GET /v1/models/{model}: with or without the provider's prefix; the id may contain a slash, raw or encoded. */
export const getModel = (router: Router) =>
  operation({
    id: 'models.get',
    summary: 'Describes a model, or a group of models.',
    access: 'key',
    params: v.object({ model: v.string() }),
    output: Model,
    errors: [403, 404],
    async run(caller: Caller, { params }) {
      const model = await router.model(params.model)
      if (!model || !nameableBy(router, caller)(model)) throw notFound('model')
      return model
    },
  })
