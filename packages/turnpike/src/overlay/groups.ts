/** Groups of models that administrators add while the server runs. @module */
import { invalid } from '@turnpike/core/internal'
import type { GatewayRoute } from '@turnpike/gateway'
import { actorOf, operation } from '@turnpike/gateway'
import { route } from '@turnpike/http'
import type { Group as RouterGroup, GroupMember } from '@turnpike/providers'
import * as v from 'valibot'
import type { Administered } from './operations.js'
import { Name, notFound, orInvalid, withoutNull } from './operations.js'
import { checkedGroup, inConfiguration } from './read.js'
import { ENTRY_BYTES } from './store.js'

const Member = v.union([v.string(), v.object({ model: v.string(), weight: v.number() })])
const settings = {
  /** In order of preference. */
  models: v.array(Member),
  contextFallback: v.optional(v.string()),
  contentFallback: v.optional(v.string()),
  failoverStatuses: v.optional(v.array(v.number())),
  retries: v.optional(v.number()),
  maxWaitMs: v.optional(v.number()),
}
const StoredGroup = v.object({
  name: v.string(),
  /** Where it can be changed: here, or in the configuration. */
  source: v.picklist(['configuration', 'store']),
  ...settings,
  /** Why it is left out; absent = it is used. */
  fault: v.optional(v.string()),
})
const Groups = v.object({
  /** Those of the configuration, then those of the store. */
  groups: v.array(StoredGroup),
})
/** What the settings of a group are is checked as in a file. */
const GroupBody = v.pipe(
  v.looseObject({ models: v.array(v.unknown()) }),
  v.description('The settings of a group, as in docs/routing.md.'),
)
const params = v.object({ name: Name })

const sectionOf = (group: RouterGroup | (string | GroupMember)[]): RouterGroup =>
  Array.isArray(group) ? { models: group } : group

export function groupRoutes(administered: () => Administered): GatewayRoute[] {
  const ofConfiguration = () => administered().config.routing.groups ?? {}
  const list = operation({
    id: 'admin.groups',
    summary: 'Lists the groups of models.',
    access: 'admin',
    output: Groups,
    run: (): v.InferOutput<typeof Groups> => ({
      groups: [
        ...Object.entries(ofConfiguration()).map(([name, group]) => ({
          name,
          source: 'configuration' as const,
          ...sectionOf(group),
        })),
        ...administered().read.groups.map(({ entry: { name }, group = { models: [] }, fault }) => ({
          name,
          source: 'store' as const,
          ...group,
          ...(fault !== undefined && { fault }),
        })),
      ],
    }),
  })

  const put = operation({
    id: 'admin.groups.put',
    summary: 'Makes a group of models, or replaces one in the store.',
    access: 'admin',
    params,
    body: GroupBody,
    example: { models: ['gpt-4o-mini', 'claude-haiku-4-5'], retries: 1 },
    output: StoredGroup,
    async run(caller, { params: { name }, body }): Promise<v.InferOutput<typeof StoredGroup>> {
      if (Object.hasOwn(ofConfiguration(), name)) throw invalid(inConfiguration(name))
      const value = withoutNull(body)
      const group = await orInvalid(() => checkedGroup(name, value))
      await administered().change(() => ({
        kind: 'groups',
        name,
        value: value as { models: string[] },
        action: 'group.update',
        by: actorOf(caller),
      }))
      return { name, source: 'store', ...group }
    },
  })

  const remove = operation({
    id: 'admin.groups.remove',
    summary: 'Removes a group of models from the store.',
    access: 'admin',
    params,
    errors: [400, 404],
    async run(caller, { params: { name } }) {
      await administered().change(({ entries }) => {
        if (entries.some((one) => one.kind === 'groups' && one.name === name))
          return { kind: 'groups', name, value: null, action: 'group.delete', by: actorOf(caller) }
        if (Object.hasOwn(ofConfiguration(), name)) throw invalid(inConfiguration(name))
        throw notFound('group')
      })
    },
  })

  return [
    route('GET', '/admin/groups', list, { convention: true }),
    route('PUT', '/admin/groups/{name}', put, { convention: true, bodyLimit: ENTRY_BYTES }),
    route('DELETE', '/admin/groups/{name}', remove, { status: 204, convention: true }),
  ]
}
