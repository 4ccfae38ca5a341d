import { kvContract } from '@turnpike/storage/testing'
import { afterAll, describe, it } from 'vitest'
import { expectContract } from '../support/store-contract.js'
import type { Engine } from '../support/engines.js'
import { endEngines, engines } from '../support/engines.js'
import { needs } from '../support/needs.js'
import { runtime } from '../support/runtime.js'
import { sample } from '../support/scope.js'

const script = new URL('contract.mjs', import.meta.url)
const inMemory = ['memory', 'driver:memory'].map((name): Engine => ({ name, needed: [], create: async () => name }))

afterAll(endEngines)

describe(`the contract of stores, on ${runtime}`, () => {
  for (const { name, needed, create } of sample([...engines, ...inMemory]))
    it(`passes on ${name}`, needs(...needed), async () => expectContract(script, await create(), kvContract))
})
