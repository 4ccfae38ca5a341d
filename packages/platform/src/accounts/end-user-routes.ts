import type { EndUser as StoredEndUser, UsageTotals } from '@turnpike/core'
import { budgetOf, NewBudget } from '@turnpike/core/internal'
import { jsonArray, Paging } from '@turnpike/http'
import * as v from 'valibot'
import { found, notFound } from '../errors.js'
import { defined } from '../given-fields.js'
import { RateLimit } from '../keys/key-fields.js'
import type { KeyOperations } from '../keys/keys.js'
import { operation } from '../operation.js'
import { EndUser, IdParams } from '../schemas.js'
import { usageView } from '../usage/usage-view.js'

const params = v.object({ id: v.string(), endUser: v.string() })

const view = ({ id, budget, rate_limit, created_at }: StoredEndUser, totals: UsageTotals) => ({
  id,
  ...(budget && { budget }),
  ...(rate_limit !== undefined && { rate_limit }),
  created_at,
  ...usageView(totals),
})

/** GET /api/keys/{id}/end-users */
export const endUsersList = (keys: KeyOperations) =>
  operation({
    id: 'endUsers.list',
    summary: 'The end users of a gateway key, in the order in which ids are stored, with what each has used.',
    access: 'developer',
    params: IdParams,
    query: Paging,
    output: v.array(EndUser),
    answerHeaders: ['Link'],
    errors: [404],
    run: (caller, { params: { id }, query }, call) =>
      jsonArray(query, call, async (page) => {
        const { items, next } = found('key', await keys.endUsers(caller!.user.id, id, page))
        return { items: items.map(({ endUser, totals, used }) => ({ ...view(endUser, totals), ...used })), next }
      }),
  })

/** The body of PATCH /api/keys/{id}/end-users/{endUser}: null takes a limit away, so that the key's counts. */
export const EndUserPatch = v.object({ budget: v.nullish(NewBudget), rateLimit: v.nullish(RateLimit) })

/** PATCH /api/keys/{id}/end-users/{endUser} */
export const endUsersUpdate = (keys: KeyOperations) =>
  operation({
    id: 'endUsers.update',
    summary: 'Gives an end user of a gateway key limits in place of those that the key has for each.',
    access: 'developer',
    params,
    aliases: { rate_limit: 'rateLimit' },
    body: EndUserPatch,
    example: { rateLimit: 5 },
    output: EndUser,
    errors: [404],
    async run(caller, { params: { id, endUser }, body: { budget, rateLimit } }) {
      const change = defined({ budget: budget && budgetOf(budget), rate_limit: rateLimit })
      const changed = found('end user', await keys.updateEndUser(caller!.user.id, id, endUser, change))
      return view(changed.endUser, changed.totals)
    },
  })

/** DELETE /api/keys/{id}/end-users/{endUser} */
export const endUsersRemove = (keys: KeyOperations) =>
  operation({
    id: 'endUsers.remove',
    summary: 'Removes an end user of a gateway key, with the sums. Usage records stay.',
    access: 'developer',
    params,
    errors: [404],
    async run(caller, { params: { id, endUser } }) {
      if (!(await keys.removeEndUser(caller!.user.id, id, endUser))) throw notFound('end user')
    },
  })
