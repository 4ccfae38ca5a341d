import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { expect } from 'vitest'
import { runtimePath } from './runtime.js'

/** Runs a contract script in the chosen runtime and expects it to print `ok` for each case and to exit with code 0. */
export async function expectContract(script: URL, storage: string, cases: { name: string }[]): Promise<void> {
  const child = spawn(runtimePath(), [fileURLToPath(script), storage], { stdio: ['ignore', 'pipe', 'inherit'] })
  let output = ''
  child.stdout.on('data', (data: Buffer) => (output += data.toString()))
  const [code] = (await once(child, 'close')) as [number]
  expect(output.trim().split('\n')).toEqual(cases.map(({ name }) => `ok ${name}`))
  expect(code).toBe(0)
}
