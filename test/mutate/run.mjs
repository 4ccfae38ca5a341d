// Breaks the sources one line at a time and expects the named test to go red: `npm run mutate [name…]`.
import { execFile } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { mutations } from './mutations.mjs'

const root = fileURLToPath(new URL('../..', import.meta.url))
const run = promisify(execFile)
/** Enough of what is random for every mutation. */
const env = { ...process.env, FUZZ_RUNS: '300' }

/** Runs one test file on the sources. @returns the names of the tests that failed */
async function failing(file) {
  const args = ['node_modules/vitest/vitest.mjs', 'run', '--config', 'vitest.workspace.ts', '--reporter=json', file]
  const { stdout } = await run(process.execPath, args, { cwd: root, env, maxBuffer: 1 << 26 }).catch((error) => error)
  const report = JSON.parse(stdout.slice(stdout.indexOf('{"numTotal')))
  const results = report.testResults.flatMap(({ assertionResults }) => assertionResults)
  if (results.length === 0) throw new Error(`${file} ran no test`)
  return results.filter(({ status }) => status === 'failed').map(({ fullName }) => fullName)
}

const wanted = process.argv.slice(2)
// A test that is red without the fault proves nothing.
for (const file of new Set(mutations.map(({ test }) => test))) {
  const red = await failing(file)
  if (red.length > 0) throw new Error(`${file} fails by itself: ${red.join('; ')}`)
}
let missed = 0
for (const { name, file, line, broken, test, red } of mutations) {
  if (wanted.length > 0 && !wanted.includes(name)) continue
  const path = `${root}/${file}`
  const source = readFileSync(path, 'utf8')
  if (source.split(line).length !== 2) throw new Error(`${name}: the line is not once in ${file}`)
  writeFileSync(
    path,
    source.replace(line, () => broken),
  )
  try {
    const failed = await failing(test)
    const caught = failed.some((title) => title.includes(red))
    if (!caught) missed++
    console.log(
      `${caught ? 'caught' : 'MISSED'}  ${name}\n        ${caught ? failed.find((title) => title.includes(red)) : `expected "${red}" to fail, failed: ${failed.join('; ') || 'none'}`}`,
    )
  } finally {
    writeFileSync(path, source)
  }
}
console.log(`${missed === 0 ? 'Every mutation was caught' : `${missed} mutations were missed`}`)
process.exit(missed === 0 ? 0 : 1)
