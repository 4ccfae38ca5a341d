// Run by images.test.ts as a process of its own, so that it trusts the test's certificate: fetches each URL of the arguments.
// SILENT, if set, is a name that nobody answers for: it is asked for five times before each URL, which must not wait for it.
// LEFT is how many bytes of memory there are.
// RESOLVES, if set, is a JSON array of what names resolve to: the addresses of the first look-up, of the second, and so on.

const { RESOLVES = '[["127.0.0.1"]]', LEFT = 1e9, SILENT } = process.env
const answers = JSON.parse(RESOLVES)
// The name servers of the test. Nothing is looked up in the threads that look up providers.
const { Resolver } = process.getBuiltinModule('node:dns').promises
Resolver.prototype.resolve4 = (name) =>
  name === SILENT ? new Promise(() => undefined) : Promise.resolve(answers.length > 1 ? answers.shift() : answers[0])
Resolver.prototype.resolve6 = () => Promise.reject(new Error('ENODATA'))
process.getBuiltinModule('node:dns').lookup = () => {
  throw new Error('Looked up in a thread')
}
process.getBuiltinModule('node:module').syncBuiltinESMExports()
const { remoteContent } = await import('@turnpike/providers/remote-content')

const [allows, ...urls] = process.argv.slice(2)
const { signal } = new AbortController()
let left = Number(LEFT)
const memory = {
  take(bytes) {
    if ((left -= bytes) < 0) throw Object.assign(new Error('no memory'), { status: 503 })
  },
}
if (SILENT) {
  const get = remoteContent({ timeout: 30_000 })
  for (let i = 0; i < 5; i++) get(`https://${SILENT}/`, { signal, limit: 1 }).catch(() => undefined)
}
for (const url of urls) {
  const timeout = url.endsWith('/silent') ? 500 : 20_000
  const get = remoteContent({
    timeout,
    ...(allows !== 'public' && { allows: (address) => ['any', address].includes(allows) }),
  })
  const outcome = await get(url, { signal, limit: 100_000, memory }).then(
    ({ type, data }) => `${type} ${Buffer.from(data, 'base64').length}`,
    (error) => `${error.status} ${error.message}`,
  )
  console.log(outcome)
}
process.exit()
