// Puts blobs until it is killed, and says what it begins and what is done: argv is the driver, its folder and a seed.
import { createHash } from 'node:crypto'
import { writeSync } from 'node:fs'
import { durableFs, unstorageBlobs } from '@turnpike/storage'
import { createStorage } from 'unstorage'
import fsDriver from 'unstorage/drivers/fs'

const [driver, base, seed] = process.argv.slice(2)
const storage = driver === 'durableFs' ? durableFs({ base }) : createStorage({ driver: fsDriver({ base }) })
const blobs = unstorageBlobs(storage, { chunkBytes: 65_536 })
for (let i = 0; ; i++) {
  const body = Buffer.alloc(1 + ((i * 48_271) % 400_000), `${seed}-${i}`)
  const sha256 = createHash('sha256').update(body).digest('hex')
  writeSync(1, `begin key-${i % 3} ${sha256}\n`)
  await blobs.put(`key-${i % 3}`, body, { type: 'text/plain', maxBytes: 2 ** 20 })
  writeSync(1, `done key-${i % 3} ${sha256}\n`)
}
