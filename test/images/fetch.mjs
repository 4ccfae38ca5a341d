// Run by images.test.ts as a process of its own, so that it trusts the test's certificate: fetches each URL of the arguments.
// SILENT, if set, makes no look-up end, and is told how many there are at a time.
// LEFT is how many bytes of memory there are.
// RESOLVES, if set, is a JSON array of what names resolve to: the addresses of the first look-up, of the second, and so on.

const { RESOLVES, LEFT = 1e9, SILENT } = process.env
if (RESOLVES) {
  const answers = JSON.parse(RESOLVES)
  process.getBuiltinModule('node:dns').lookup = (_, options, callback) => {
    const found = (answers.length > 1 ? answers.shift() : answers[0]).map((address) => ({ address, family: 4 }))
    if (options.all) callback(null, found)
    else callback(null, found[0].address, 4)
  }
  process.getBuiltinModule('node:module').syncBuiltinESMExports()
}
if (SILENT) {
  const dns = process.getBuiltinModule('node:dns')
  let lookups = 0
  dns.lookup = () => void lookups++
  process.getBuiltinModule('node:module').syncBuiltinESMExports()
  const { remoteContent } = await import('@turnpike/providers/remote-content')
  const get = remoteContent({ timeout: 300 })
  const { signal } = new AbortController()
  const outcomes = Array.from({ length: 5 }, (_, i) =>
    get(`https://h${i}.example/`, { signal, limit: 1 }).catch((error) => error.status),
  )
  console.log(`${(await Promise.all(outcomes)).join()} ${lookups}`)
  process.exit()
}
const { remoteContent } = await import('@turnpike/providers/remote-content')

const [allows, ...urls] = process.argv.slice(2)
const { signal } = new AbortController()
let left = Number(LEFT)
const memory = {
  take(bytes) {
    if ((left -= bytes) < 0) throw Object.assign(new Error('no memory'), { status: 503 })
  },
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
