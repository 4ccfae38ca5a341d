// Usage: node crash-points.mjs FOLDER before|after N COMMITS. Does a list of commits in two openings of a store in FOLDER, and says each
// that is acknowledged. Before or after the Nth call that changes files or flushes them it kills itself; if there is none, it says how many there were.
import { writeSync } from 'node:fs'
import files from 'node:fs/promises'
import { syncBuiltinESMExports } from 'node:module'

const [folder, when, at, list] = process.argv.slice(2)
const commits = JSON.parse(list)
let calls = 0
const dieAt = (moment, call) => {
  if (moment === when && call === Number(at)) process.kill(process.pid, 'SIGKILL')
}
// Reading and closing change nothing, and what opening makes is there before the write that follows.
const watch = (object, names) => {
  for (const name of names) {
    const original = object[name]
    object[name] = async function (...args) {
      const call = ++calls
      dieAt('before', call)
      const result = await original.apply(this, args)
      dieAt('after', call)
      return result
    }
  }
}
const handle = await files.open(import.meta.filename)
watch(Object.getPrototypeOf(handle), ['write', 'writeFile', 'truncate', 'datasync', 'sync'])
await handle.close()
watch(files, ['writeFile', 'appendFile', 'mkdir', 'link', 'rename', 'rm', 'unlink', 'rmdir', 'truncate'])
syncBuiltinESMExports()

const { fsKV } = await import('@turnpike/storage/fs')
let next = 0
for (const end of [commits.length - 3, commits.length]) {
  const kv = await fsKV(folder, { mergeAfter: 2, itemSize: 400 })
  // Two at a time, so that groups and merges meet.
  const clients = [0, 1].map(async () => {
    while (next < end) {
      const i = next++
      if (await kv.commit(commits[i])) writeSync(1, `${i}\n`)
    }
  })
  await Promise.all(clients)
  await kv.close()
}
writeSync(1, `calls ${calls}\n`)
