import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { kvContract } from '@turnpike/storage/testing'
import { afterAll, describe, expect, it } from 'vitest'
import type { Engine } from '../support/engines.js'
import { endEngines, engines } from '../support/engines.js'
import { runtime, runtimePath } from '../support/runtime.js'
import { sample } from '../support/scope.js'

const inMemory = ['memory', 'driver:memory'].map((name): Engine => ({ name, missing: false, create: async () => name }))
const script = fileURLToPath(new URL('contract.mjs', import.meta.url))

afterAll(endEngines)

describe(`the contract, on ${runtime}`, () => {
  it.each(sample([...engines.filter(({ missing }) => !missing), ...inMemory]))(
    'passes on $name',
    async ({ create }) => {
      const child = spawn(runtimePath(), [script, await create()], { stdio: ['ignore', 'pipe', 'inherit'] })
      let output = ''
      child.stdout.on('data', (data: Buffer) => (output += data.toString()))
      const [code] = (await once(child, 'exit')) as [number]
      expect(output.trim().split('\n')).toEqual(kvContract.map(({ name }) => `ok ${name}`))
      expect(code).toBe(0)
    },
  )
})
