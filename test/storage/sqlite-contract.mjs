// Usage: bun sqlite-contract.mjs FILE. Prints a line for each case of the contract and of the SQL engines.
import { sqliteKV } from '@turnpike/storage/sqlite'
import { kvContract } from '@turnpike/storage/testing'
import { sharedCases } from './sql-cases.ts'

const open = (now) => sqliteKV(process.argv[2], now && { now })
const report = (name, done) =>
  done.then(
    () => console.log(`ok ${name}`),
    (error) => console.log(`not ok ${name}: ${error.stack}`),
  )

const kv = await open()
for (const { name, run } of kvContract) await report(name, run(kv))
for (const { name, run } of sharedCases) await report(name, run(open))
await kv.close()
