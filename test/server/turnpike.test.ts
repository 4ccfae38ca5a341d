import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'
import { runtime, runtimePath } from '../support/runtime.js'

const script = fileURLToPath(new URL('turnpike.mjs', import.meta.url))

it(`turnpike() composes what a configuration says, and reloads it, on ${runtime}`, async () => {
  const { stdout } = await promisify(execFile)(runtimePath(), [script])
  const lines = stdout.trim().split('\n')
  expect(lines.filter((line) => !line.startsWith('ok '))).toEqual([])
  expect(lines).toHaveLength(13)
})
