// Run by images.test.ts as a process of its own, so that it trusts the test's certificate: fetches each URL of the arguments.
import { remoteContent } from '@turnpike/providers/remote-content'

const [allows, ...urls] = process.argv.slice(2)
const { signal } = new AbortController()
for (const url of urls) {
  const timeout = url.endsWith('/silent') ? 500 : 20_000
  const get = remoteContent({ timeout, ...(allows === 'any' && { allows: () => true }) })
  const outcome = await get(url, { signal, limit: 100_000 }).then(
    ({ type, data }) => `${type} ${Buffer.from(data, 'base64').length}`,
    (error) => `${error.status} ${error.message}`,
  )
  console.log(outcome)
}
