import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { rateLimiterContract } from '@turnpike/storage/testing'
import { afterAll, describe, expect, it } from 'vitest'
import { endEngines, engines } from '../support/engines.js'
import { runtime, runtimePath } from '../support/runtime.js'
import { sample } from '../support/scope.js'

const script = fileURLToPath(new URL('contract.mjs', import.meta.url))
const shared = engines.filter(({ single, missing }) => !single && !missing)

afterAll(endEngines)

describe(`the contract of rate limiters, on ${runtime}`, () => {
  it.each(sample(shared))('passes on $name', async ({ create }) => {
    const child = spawn(runtimePath(), [script, await create()], { stdio: ['ignore', 'pipe', 'inherit'] })
    let output = ''
    child.stdout.on('data', (data: Buffer) => (output += data.toString()))
    const [code] = (await once(child, 'exit')) as [number]
    expect(output.trim().split('\n')).toEqual(rateLimiterContract.map(({ name }) => `ok ${name}`))
    expect(code).toBe(0)
  })
})
