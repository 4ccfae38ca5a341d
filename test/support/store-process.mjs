// Usage: node store-process.mjs STORAGE. Opens the store as the server does, says so, and then does what the lines of its input ask:
// [id, method, ...arguments] is answered by [id, result] or [id, null, error]. The method `lose` commits, and is never answered.
import { createInterface } from 'node:readline'
import { openStorage } from 'turnpike'

const answer = (...line) => process.stdout.write(`${JSON.stringify(line)}\n`)
const told = ({ name, message, outcome }) => ({ name, message, outcome })

const { kv } = await openStorage(process.argv[2]).catch((error) => {
  answer(0, null, told(error))
  process.exit()
})
answer(0, kv.capabilities)

const methods = {
  ...kv,
  async lose(commit) {
    await kv.commit(commit)
    process.kill(process.pid, 'SIGKILL')
  },
}
createInterface({ input: process.stdin })
  .on('line', (line) => {
    const [id, method, ...args] = JSON.parse(line)
    methods[method](...args).then(
      (result) => answer(id, result),
      (error) => answer(id, null, told(error)),
    )
  })
  .on('close', () => process.exit())
