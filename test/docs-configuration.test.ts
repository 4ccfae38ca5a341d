import { execFile } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { loadConfig } from '../packages/turnpike/src/config/load.js'
import { presets } from '@turnpike/providers/presets'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { providerVariables, variables } from '../packages/turnpike/src/config/variables.js'
import { blocksOf } from './support/page.js'

const file = fileURLToPath(new URL('../docs/configuration.md', import.meta.url))

interface Schema {
  type?: string
  const?: string
  enum?: string[]
  items?: Schema
  minimum?: number
  exclusiveMinimum?: number
  maximum?: number
  not?: object
  default?: unknown
  description?: string
  properties?: Record<string, Schema>
  additionalProperties?: Schema | false
  anyOf?: Schema[]
  oneOf?: Schema[]
  $ref?: string
  $defs?: Record<string, Schema>
}
const root = JSON.parse(
  readFileSync(fileURLToPath(import.meta.resolve('turnpike/config.schema.json')), 'utf8'),
) as Schema
const resolve = (schema: Schema): Schema =>
  schema.$ref === undefined ? schema : { ...root.$defs![schema.$ref.split('/').at(-1)!], ...schema }

/** The kinds of value that a setting takes, without the text that stands for each number, flag and list. */
function kindsOf(schema: Schema): string[] {
  const { type, const: only, enum: words, items, minimum, exclusiveMinimum, maximum, not, anyOf = [] } = resolve(schema)
  const { properties, additionalProperties } = resolve(schema)
  if (not) return ['code']
  if (only !== undefined) return [`\`${only}\``]
  if (words) return words.map((word) => `\`${word}\``)
  if (type === 'boolean') return ['`true`', '`false`']
  if (type === 'array')
    return [`list of ${items?.type === 'string' ? 'texts' : items?.type === 'number' ? 'numbers' : 'settings'}`]
  if (exclusiveMinimum !== undefined) return [`number above ${exclusiveMinimum}`]
  if (type === 'integer' || type === 'number') {
    if (maximum === undefined || maximum === Number.MAX_SAFE_INTEGER) return [`${type}, at least ${minimum}`]
    return [`${type}, ${minimum} to ${maximum}`]
  }
  if (properties) return [`\`{ ${Object.keys(properties).join(', ')} }\``]
  if (type === 'object')
    return [additionalProperties && additionalProperties.type === 'string' ? 'texts by name' : 'settings by name']
  const kinds = [...new Set(anyOf.flatMap(kindsOf))]
  if (type === 'string' || kinds.length === 0) return ['text']
  return kinds.every((kind) => kind === 'text' || kind === 'code') ? kinds : kinds.filter((kind) => kind !== 'text')
}

/** A description, and the default that it ends with. */
function partsOf({ description = '', default: preset }: Schema): [meaning: string, preset: string] {
  const [, meaning = description.slice(0, -1), told = String(preset ?? '')] =
    /^(.*?)[;,.] default (.*)\.$/i.exec(description) ?? []
  return [`${meaning.replaceAll('<', '&lt;')}.`, /^\S+$/.test(told) ? `\`${told}\`` : told]
}

type Row = [setting: string, schema: Schema, types?: string[]]

/** The settings below a path. */
const rowsOf = (path: string, { properties = {} }: Schema, about = ''): Row[] =>
  Object.entries(properties).flatMap(([name, inner]): Row[] => {
    const at = `${path}.${name}`
    const description = about + inner.description
    return inner.properties ? rowsOf(at, inner, `${description} `) : [[at, { ...inner, description }]]
  })

const variableOf = (path: string): string[] =>
  Object.entries(variables).flatMap(([name, at]) => (at === path ? name : []))
/** The variables of a setting of providers, of all types or some. */
const providerVariableOf = (setting: string, types?: string[]): string[] =>
  setting === 'type'
    ? []
    : providerVariables
        .filter(({ type }) => !types || types.includes(type))
        .flatMap((names) => (names as Record<string, string>)[setting] ?? [])

/** In words, of which types a setting is. */
function onlyOf(types: string[]): string {
  const own = types.filter((type) => !(type in presets)).map((type) => `\`${type}\``)
  return (own.length < types.length ? [...own, 'presets'] : own).join(', ')
}

function table(rows: Row[], variablesOf: (path: string, only?: string[]) => string[]): string {
  const lines = rows.map(([path, schema, only]) => {
    const [meaning, preset] = partsOf(schema)
    const names = variablesOf(path, only).map((name) => `\`${name}\``)
    const what = only === undefined ? meaning : `${meaning} Of ${onlyOf(only)}.`
    return `| \`${path}\` | ${kindsOf(schema).join(', ')} | ${preset} | ${names.join(', ')} | ${what} |`
  })
  return ['| Setting | Value | Default | Variable | Meaning |', '|---|---|---|---|---|', ...lines].join('\n')
}

/** The types of providers that have these settings: one, or all presets. */
const typesOf = ({ type = {} }: Record<string, Schema>): string[] =>
  type.const === undefined ? type.anyOf!.flatMap((one) => one.enum ?? []) : [type.const]

/** The settings of a provider, those of all types first, and each that several have once. */
function providerRows(): Row[] {
  const types = resolve(root.properties!['providers']!.items!).oneOf!.map(({ properties }) => properties!)
  const type = { enum: types.flatMap(typesOf), description: 'The kind of its API, or the preset (docs/providers.md).' }
  const rows = new Map<string, { row: Row; of: Record<string, Schema>[] }>()
  for (const settings of types)
    for (const [name, schema] of Object.entries({ ...settings, type })) {
      const key = `${name} ${kindsOf(schema).join()} ${schema.description}`
      if (!rows.has(key)) rows.set(key, { row: [name, schema], of: [] })
      rows.get(key)!.of.push(settings)
    }
  const all = [...rows.values()]
  const own = all.filter(({ of }) => of.length < types.length)
  return [
    ...all.filter(({ of }) => of.length === types.length).map(({ row }) => row),
    ...own.map(({ row: [name, schema], of }): Row => [name, schema, of.flatMap(typesOf)]),
  ]
}

/** The part of the page that follows "## Settings". */
function settings(): string {
  const entries = Object.entries(root.properties!)
  const isSection = ([, { properties }]: [string, Schema]): boolean => properties !== undefined
  const single = entries.filter((entry) => !isSection(entry) && entry[0] !== 'providers')
  const sections = entries
    .filter(isSection)
    .map(([name, schema]) => `### \`${name}\`\n\n${schema.description}\n\n${table(rowsOf(name, schema), variableOf)}\n`)
  const providers = root.properties!['providers']!
  return [
    `\n${table(
      single.map(([name, schema]): Row => [name, schema]),
      variableOf,
    )}\n`,
    `### \`providers\`\n\n${providers.description} Each has:\n\n${table(providerRows(), providerVariableOf)}\n`,
    ...sections,
  ].join('\n')
}

it('its tables are those of the JSON Schema', () => {
  const [before = '', after] = readFileSync(file, 'utf8').split(/(?<=^## Settings\n)/m)
  if (process.env['UPDATE']) writeFileSync(file, before + settings())
  else expect(after).toBe(settings())
})

let folder: string
beforeAll(() => void (folder = mkdtempSync(join(tmpdir(), 'turnpike-config-'))))
afterAll(() => rmSync(folder, { recursive: true }))

/** Reads a configuration from a file with this name. */
function load(name: string, code: string, environment: Record<string, string> = {}) {
  const CONFIG = join(folder, name)
  writeFileSync(CONFIG, code)
  return loadConfig({ ...environment, CONFIG })
}

it('each file that it shows is a configuration', async () => {
  const page = readFileSync(file, 'utf8')
  const environment = Object.fromEntries([...page.matchAll(/\$\{(\w+)\}/g)].map(([, name]) => [name, 'x'.repeat(40)]))
  const files = ['yaml', 'json', 'ts'].flatMap((ending) =>
    blocksOf(page, ending).map((code, i) => [`${i}.${ending}`, code] as const),
  )
  expect(files.map(([name]) => name)).toEqual(['0.yaml', '1.yaml', '2.yaml', '0.json', '0.ts'])
  for (const [name, code] of files)
    if (!name.endsWith('.ts')) expect((await load(name, code, environment)).providers).not.toEqual([])
  // Code imports the built package, which takes long here.
  const [, code] = files.at(-1)!
  writeFileSync(join(folder, 'turnpike.config.ts'), code)
  const read = "import { loadConfig } from 'turnpike'; console.log((await loadConfig(process.env)).providers.length)"
  const env = { ...environment, CONFIG: join(folder, 'turnpike.config.ts') }
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', read], {
    cwd: import.meta.dirname,
    env,
  })
  expect(stdout).toBe('1\n')
})

it('the faults that it shows are those of such a file', async () => {
  const [shown] = blocksOf(readFileSync(file, 'utf8'), 'text')
  const wrong = 'store: ${STORE}\nserver: { prot: 1 }\nproviders: [{ type: openai, apiKey: x }, { type: opnai }]'
  const told = await load('turnpike.config.yaml', wrong).catch((error: unknown) => error as Error)
  expect(`${(told as Error).message}\n`.replace(folder, '/srv')).toBe(shown)
})
