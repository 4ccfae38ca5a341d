// Usage: node sql-writer.mjs postgres|sqlite URL|FILE PREFIX NAME COUNT. Adds, races and updates; prints what it did as JSON.
import { update } from '@turnpike/core'
import { setTimeout as sleep } from 'node:timers/promises'
import { openStore } from './open-store.mjs'

const [kind, where, prefix, name, count] = process.argv.slice(2)
const { kv, end } = await openStore(kind, where)
const done = { won: 0, added: 0 }

// The two come from opposite ends, so that each wins some.
const once = async (i) => {
  const key = [prefix, 'once', String(name === 'a' ? i : count - 1 - i)]
  if (await kv.commit({ check: [{ key, version: null }], set: [{ key, value: name }] })) done.won++
}
const add = async (i) => {
  const n = 1 + Math.floor(Math.random() * 5)
  const sum = [{ key: [prefix, 'total', String(i % 5)], add: { n } }]
  if (await kv.commit({ sum, set: [{ key: [prefix, 'last', name], value: i }] })) done.added += n
}
await kv.commit({ sum: [{ key: [prefix, 'ready'], add: { n: 1 } }] })
for (let i = 0; i < count; i += 10) {
  await Promise.all(
    Array.from({ length: 10 }, (_, j) => [
      once(i + j),
      add(i + j),
      update(kv, [prefix, 'chain'], (n) => (n ?? 0) + 1),
    ]).flat(),
  )
  // One that starts late still finds keys of its own end.
  while (!(await kv.get([prefix, 'last', name === 'a' ? 'b' : 'a']))) await sleep(2)
}
console.log(JSON.stringify(done))
await end()
