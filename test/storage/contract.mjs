// Usage: node|bun contract.mjs URL. Prints a line for each case of the contract that a store keeps, or how it breaks it.
import { openStorage } from 'turnpike'
import { kvContract } from '@turnpike/storage/testing'

const { kv } = await openStorage(process.argv[2])
for (const { name, run } of kvContract)
  await run(kv).then(
    () => console.log(`ok ${name}`),
    (error) => console.log(`not ok ${name}: ${error.stack}`),
  )
await kv.close()
