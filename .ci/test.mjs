// Runs the tests: `node .ci/test.mjs [vitest options]`. Those that take long run where TEST_ALL is `true`, or where a file or folder is named. Vite takes
// paths for parts of URLs, in which `#`, `?` and `%` mean something else. So where the path of this folder has one of them, a copy of it is tested,
// which is then removed.
import { spawnSync } from 'node:child_process'
import { cpSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join, resolve } from 'node:path'

const root = resolve(import.meta.dirname, '..')
const given = process.argv.slice(2)
const withoutLong = process.env.TEST_ALL !== 'true' && given.every((word) => /^--(?!project)/.test(word))
const run = (cwd, ...words) => spawnSync(process.execPath, words, { cwd, stdio: 'inherit' }).status ?? 1
const vitest = (cwd) =>
  run(
    cwd,
    'node_modules/vitest/vitest.mjs',
    'run',
    '--config',
    'vitest.workspace.ts',
    ...(withoutLong ? ['--project=!long*'] : []),
    ...given,
  )

if (!/[#?%]/.test(root)) process.exit(vitest(root))

const copy = mkdtempSync(join(tmpdir(), 'turnpike-'))
console.log(`The tests run in a copy, ${copy}, because Vite cannot read the path of this folder.`)
try {
  cpSync(root, copy, { recursive: true, filter: (path) => !['node_modules', 'dist', '.git'].includes(basename(path)) })
  process.exitCode = run(copy, '.ci/quietly.mjs', 'setup', 'build') || vitest(copy)
} finally {
  rmSync(copy, { recursive: true })
}
