import { accessSync, constants, existsSync, readdirSync, statSync } from 'node:fs'
import { homedir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import type { TestOptions } from 'vitest'
import table from './programs.json' with { type: 'json' }
import { thorough } from './scope.js'

declare module 'vitest' {
  interface TaskMeta {
    /** What a test was skipped for: the name of a {@link Need}. */
    needs?: string
  }
}

/** What some tests need, and a machine may not have. */
export interface Need {
  name: string
  isMissing: boolean
}

/** A program of programs.json. */
export interface Program extends Need {
  /** Empty where it is missing. */
  path: string
}

type Row = { name: string; commands: string[]; folders?: string[]; debian?: string; homebrew?: string; go?: string }
const rows: [id: keyof typeof table, row: Row][] = Object.entries(table) as never

/** Folders of every program, beside those of $PATH. */
const FOLDERS = [
  '/usr/sbin',
  '/usr/local/bin',
  '/opt/homebrew/bin',
  join(process.env['GOPATH'] ?? join(homedir(), 'go'), 'bin'),
]

/** The folders of a pattern, in which one `*` is any version, the highest first. */
function foldersOf(pattern: string): string[] {
  const [before, after] = pattern.split('*') as [string, string?]
  if (after === undefined) return [pattern]
  const parent = before.endsWith('/') ? before : dirname(before)
  const version = (path: string): number => Number.parseFloat(path.slice(before.length))
  return (existsSync(parent) ? readdirSync(parent) : [])
    .map((name) => join(parent, name))
    .filter((path) => path.startsWith(before))
    .toSorted((a, b) => version(b) - version(a))
    .map((path) => path + after)
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return statSync(path).isFile()
  } catch {
    return false
  }
}

function find({ name, commands, folders = [] }: Row): Program {
  const all = [...(process.env['PATH'] ?? '').split(delimiter), ...folders.flatMap(foldersOf), ...FOLDERS]
  const path = commands.flatMap((command) => all.map((folder) => join(folder, command))).find(isProgram)
  return { name, isMissing: path === undefined, path: path ?? '' }
}

/** The programs, by their keys in programs.json. */
export const programs = Object.fromEntries(rows.map(([id, row]) => [id, find(row)])) as Record<
  keyof typeof table,
  Program
>

/** What only `npm run test:all` runs. */
export const testAll: Need = { name: 'npm run test:all', isMissing: !thorough }

/** The folder of the recorded traffic of upstreams, which lies beside the repository, not in it. */
export const fixtures = new URL('../../../shared/fixtures/', import.meta.url)
export const recordedTraffic: Need = {
  name: 'recorded traffic (../shared/fixtures)',
  isMissing: !existsSync(fixtures),
}

/** SQLite of the Node that runs the tests. */
export const nodeSqlite: Need = {
  name: 'SQLite (Node 22.13 or later)',
  isMissing: process.getBuiltinModule('node:sqlite') === undefined,
}

/**
 * Options of a test or a suite that is skipped without one of these, and counted at the end of the run ({@link SkippedTests}).
 * @throws Error in CI, where every program has to be there
 * @example describe('redisKV', needs(programs.redis), () => …)
 */
export function needs(...all: Need[]): TestOptions {
  const need = all.find(({ isMissing }) => isMissing)
  if (!need) return {}
  if (process.env['CI'] === 'true' && 'path' in need)
    throw new Error(`In CI no test is skipped for want of ${need.name}`)
  return { skip: true, meta: { needs: need.name } }
}

const allOf = (system: 'debian' | 'homebrew' | 'go'): string => rows.flatMap(([, row]) => row[system] ?? []).join(' ')

/** The command that installs all programs, by system. */
export const installCommands = {
  Debian: `sudo apt-get install ${allOf('debian')} golang-go && go install ${allOf('go')}`,
  Homebrew: `brew install ${allOf('homebrew')} go && go install ${allOf('go')}`,
}
