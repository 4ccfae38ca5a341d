// Usage: node sqlite-writer.mjs FILE DURABILITY NAME. Writes records until it is killed; prints each that is acknowledged.
import { writeSync } from 'node:fs'
import { openStore } from '../storage/open-store.mjs'

const [file, durability, name] = process.argv.slice(2)
const { kv } = await openStore('sqlite', file, { durability })

const client = async (n) => {
  for (let i = 0; ; i++) {
    const id = `${name}-${n}-${i}`
    const set = [{ key: ['killed', 'record', id], value: 'x'.repeat(300) }]
    const sum = [{ key: ['killed', 'total'], add: { records: 1 } }]
    if (await kv.commit({ set, sum })) writeSync(1, `${id}\n`)
  }
}
for (let n = 0; n < 8; n++) void client(n)
