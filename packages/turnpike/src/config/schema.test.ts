import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { ConfigSchema } from './schema.js'

/** The names of the options of a package's function. */
const optionsOf = (name: 'gateway' | 'platform'): string[] => {
  const text = readFileSync(new URL(`../../../${name}/src/option-names.ts`, import.meta.url), 'utf8')
  return [...text.matchAll(/^ {2}(\w+): (?:true|false),$/gm)].map(([, option]) => option!)
}

type Schema = { entries?: Record<string, Schema>; wrapped?: Schema; pipe?: Schema[] }
function settingsOf(name: 'gateway' | 'platform' | 'server'): string[] {
  let schema: Schema | undefined = ConfigSchema.entries[name] as unknown as Schema
  while (schema && !schema.entries) schema = schema.wrapped ?? schema.pipe?.[0]
  return Object.keys(schema!.entries!)
}

/** What the composition itself makes, or another setting gives. */
const made = new Set(
  'router kv keys ledger rateLimiter authenticateAdmin simulated bodyMemory dataBytes onError events configured now gateway'.split(
    ' ',
  ),
)

it.each(['gateway', 'platform'] as const)('a configuration has every option of %s', (name) => {
  const settings = new Set([...settingsOf(name), ...settingsOf('server'), ...Object.keys(ConfigSchema.entries)])
  const options = optionsOf(name)
  expect(options.length).toBeGreaterThan(20)
  expect(options.filter((option) => !settings.has(option) && !made.has(option))).toEqual([])
})
