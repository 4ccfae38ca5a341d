import { expect, it } from 'vitest'
import { urlsOfHosts } from '../../examples/server/src/hosts.js'
import { openStorage } from '../../examples/server/src/storage.js'

it.each([
  ['redis://a', ['redis://a']],
  ['redis://a:1,b:2/3?sentinel=main', ['redis://a:1/3?sentinel=main', 'redis://b:2/3?sentinel=main']],
  ['postgres://user:p,w@a,[::1]:2/db', ['postgres://user:p,w@a/db', 'postgres://user:p,w@[::1]:2/db']],
])('the hosts of %s', (url, urls) => {
  expect(urlsOfHosts(url)).toEqual(urls)
})

it.each([
  ['redis://a,b', 'Several hosts of Redis need ?cluster or ?sentinel=NAME'],
  ['redis://a?replicas=some', 'The replicas of a redis:// URL must be a whole number'],
])('%s is refused', async (url, message) => {
  await expect(openStorage(url)).rejects.toThrow(message)
})
