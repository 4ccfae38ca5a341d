/** What administrators are told of the process that answers. @module */
import type { KV } from '@turnpike/core'
import { countUsers } from '@turnpike/core'
import type { GatewayRoute } from '@turnpike/gateway'
import { operation } from '@turnpike/gateway'
import { route } from '@turnpike/http'
import * as v from 'valibot'
import type { Config } from './config/schema.js'
import { shownConfig } from './config/shown.js'

const ServerInfo = v.object({
  /** Such as `Node.js 22.11.0`. */
  runtime: v.string(),
  /** The system and its processor, such as `linux x64`. */
  platform: v.string(),
  pid: v.number(),
  /** When the process began. */
  started_at: v.string(),
  /** Bytes. */
  memory: v.object({
    /** What the process holds of the machine. */
    resident: v.number(),
    /** What objects of JavaScript take. */
    heap: v.number(),
  }),
  store: v.object({
    /** The engine. */
    driver: v.string(),
    /** How many processes may write to it. */
    writers: v.picklist(['one-process', 'one-host', 'many-hosts']),
    /** What is kept of an answered write. */
    durability: v.picklist(['none', 'process-crash', 'power-loss', 'engine-configured', 'unknown']),
    ok: v.boolean(),
    /** Why not; absent if `ok`. */
    reason: v.optional(v.string()),
    /** Sentences that administrators should know; absent = none. */
    warnings: v.optional(v.array(v.string())),
  }),
  /** Users who are not deleted. */
  users: v.number(),
  /** What is in force as a file has it, without `providers`, and with `…` in place of secrets. */
  configuration: v.record(v.string(), v.unknown()),
})

const runtime = (): string => {
  const { bun, node } = process.versions
  return bun === undefined ? `Node.js ${node}` : `Bun ${bun}`
}

/** GET /admin/server */
const server = (kv: KV, config: Config) =>
  operation({
    id: 'admin.server',
    summary: 'Tells of the process, its store and the configuration in force.',
    access: 'admin',
    output: ServerInfo,
    async run(): Promise<v.InferOutput<typeof ServerInfo>> {
      const [health, users] = await Promise.all([kv.health(), countUsers(kv)])
      const { rss, heapUsed } = process.memoryUsage()
      const { providers: _, ...configuration } = shownConfig(config) as Record<string, unknown>
      return {
        runtime: runtime(),
        platform: `${process.platform} ${process.arch}`,
        pid: process.pid,
        started_at: new Date(Date.now() - process.uptime() * 1_000).toISOString(),
        memory: { resident: rss, heap: heapUsed },
        store: { ...kv.capabilities, ...health },
        users,
        configuration,
      }
    },
  })

export const serverRoutes = (kv: KV, config: Config): GatewayRoute[] => [
  route('GET', '/admin/server', server(kv, config), { convention: true }),
]
