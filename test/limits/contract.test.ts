import { rateLimiterContract } from '@turnpike/storage/testing'
import { afterAll, describe, it } from 'vitest'
import { expectContract } from '../support/store-contract.js'
import { endEngines, engines } from '../support/engines.js'
import { runtime } from '../support/runtime.js'
import { thorough } from '../support/scope.js'

const script = new URL('contract.mjs', import.meta.url)
const shared = engines.filter(({ single, missing }) => !single && !missing)

afterAll(endEngines)

describe.runIf(thorough)(`the contract of rate limiters, on ${runtime}`, () => {
  it.each(shared)('passes on $name', async ({ create }) => expectContract(script, await create(), rateLimiterContract))
})
