// Usage: bun sqlite-contract.mjs FILE. Prints a line a case of the contract.
import { sqliteKV } from '@turnpike/storage/sqlite'
import { kvContract } from '@turnpike/storage/testing'

const kv = await sqliteKV(process.argv[2])
for (const { name, run } of kvContract)
  await run(kv).then(
    () => console.log(`ok ${name}`),
    (error) => console.log(`not ok ${name}: ${error.stack}`),
  )
await kv.close()
