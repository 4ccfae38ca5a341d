import { createUser, memoryKV } from '@turnpike/core'
import { createGateway } from '@turnpike/gateway'
import { createServer } from '@turnpike/http/node'
import { createRouter, openai } from '@turnpike/providers'
import { fakeOpenAI } from '@turnpike/providers/testing'
import { unstorageBlobs } from '@turnpike/storage'
import { createStorage } from 'unstorage'
import fsDriver from 'unstorage/drivers/fs-lite'
import { cache } from './cache.js'
import { keep } from './keep.js'
import { byOpenai, moderation } from './moderation.js'
import { redact } from './redact.js'

const { OPENAI_API_KEY: apiKey, KEPT = '.turnpike/kept' } = process.env
const provider = apiKey
  ? openai({ apiKey })
  : openai({ apiKey: 'simulated', transport: fakeOpenAI({ delayMs: 50, remember: 0 }).transport })
// Without an API key, one word is against the rules.
const isHarmful = apiKey ? byOpenai(apiKey) : async (texts: string[]) => texts.some((text) => text.includes('harmful'))
// In production `s3Blobs` of @turnpike/storage/s3.
const bucket = unstorageBlobs(createStorage({ driver: fsDriver({ base: KEPT }) }))

const kv = await memoryKV()
const gateway = createGateway({
  router: createRouter({ providers: [provider] }),
  kv,
  simulated: !apiKey,
  // Requests pass them in this order, answers in the other: those behind the first see no personal data.
  guards: [redact, keep(bucket), moderation(isHarmful), cache()],
})
createServer(gateway).listen(process.env.PORT ?? 8787)

const { id } = await createUser(kv, { name: 'my app' })
const { key } = await gateway.keys.create(id, { name: 'production' })
console.log(`Gateway key: ${key}`)
