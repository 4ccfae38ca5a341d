import { rateLimiterContract } from '@turnpike/storage/testing'
import { afterAll, describe, it } from 'vitest'
import { needs, testAll } from '../support/needs.js'
import { expectContract } from '../support/store-contract.js'
import { endEngines, engines } from '../support/engines.js'
import { runtime } from '../support/runtime.js'

const script = new URL('contract.mjs', import.meta.url)
const shared = engines.filter(({ single }) => !single)

afterAll(endEngines)

describe(`the contract of rate limiters, on ${runtime}`, () => {
  for (const { name, needed, create } of shared)
    it(`passes on ${name}`, needs(testAll, ...needed), async () =>
      expectContract(script, await create(), rateLimiterContract),
    )
})
