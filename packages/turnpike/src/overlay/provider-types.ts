/** The kinds of providers that administrators can add. @module */
import type { GatewayRoute } from '@turnpike/gateway'
import { operation } from '@turnpike/gateway'
import { route } from '@turnpike/http'
import * as v from 'valibot'
import { providerTypes } from '../config/provider-types.js'

const Types = v.object({
  types: v.array(
    v.object({
      /** The `type` of its settings. */
      type: v.string(),
      /** Its name for people. */
      name: v.string(),
      /** The address of its API, where it has one by default that is known; `{accountId}` stands for the account. */
      base_url: v.optional(v.string()),
      /** Whether it is on the own machine and wants no key; absent = it is not. */
      local: v.optional(v.literal(true)),
      settings: v.array(
        v.object({
          name: v.string(),
          /** What it is, in a sentence. */
          description: v.optional(v.string()),
          required: v.boolean(),
          /** Whether its value is shown to nobody. */
          secret: v.boolean(),
        }),
      ),
    }),
  ),
})

const list = operation({
  id: 'admin.providers.types',
  summary: 'Lists the kinds of providers that can be added, with their settings.',
  access: 'admin',
  output: Types,
  run: (): v.InferOutput<typeof Types> => ({ types: [...providerTypes] }),
})

export const providerTypeRoutes: GatewayRoute[] = [route('GET', '/admin/providers/types', list, { convention: true })]
