import type { Router } from '@turnpike/core'
import { Model, ModelList } from '@turnpike/core'
import * as v from 'valibot'
import { mayUse } from '../admit.js'
import type { Caller } from '../caller.js'
import { notFound } from '../errors.js'
import { operation } from '../operation.js'

/** GET /v1/models: the models of the configured providers that the caller may use. */
export const listModels = (router: Router) =>
  operation({
    id: 'models.list',
    summary: 'Lists the models that the configured providers offer.',
    access: 'key',
    query: v.object({ provider: v.optional(v.string()) }),
    output: ModelList,
    async run(caller: Caller, { query }) {
      const listed = await router.models(query.provider === undefined ? {} : { provider: query.provider })
      return { object: 'list', data: listed.filter(({ provider, id }) => mayUse(caller, provider, id)) }
    },
  })

/** GET /v1/models/{model}: with or without the provider's prefix; the id may contain a slash, raw or encoded. */
export const getModel = (router: Router) =>
  operation({
    id: 'models.get',
    summary: 'Describes one model.',
    access: 'key',
    params: v.object({ model: v.string() }),
    output: Model,
    errors: [404],
    async run(caller: Caller, { params }) {
      const model = await router.model(params.model)
      if (!model || !mayUse(caller, model.provider, model.id)) throw notFound('model')
      return model
    },
  })
