import { expect, it } from 'vitest'
import { ConfigError } from './config/faults.js'
import { openByPrefix } from './open-by-prefix.js'

const notFound = (message: string): Error => Object.assign(new Error(message), { code: 'ERR_MODULE_NOT_FOUND' })
const open = (error: Error) => openByPrefix('STORAGE', 'x://host', { 'x://': () => Promise.reject(error) })

it.each([
  ['Node', "Cannot find package 'x-client' imported from /app/node_modules/turnpike/dist/index.js"],
  ['Bun', "Cannot find package 'x-client' from '/app/node_modules/turnpike/dist/index.js'"],
])('names the package that is not installed, on %s', async (_, message) => {
  const told = await open(notFound(message)).catch((error: unknown) => error)
  expect(told).toBeInstanceOf(ConfigError)
  expect((told as Error).message).toBe('STORAGE at x:// needs the package x-client: npm install x-client')
})

it('leaves other errors as they are', async () => {
  for (const error of [new Error('refused'), notFound("Cannot find module '/app/gone.js'")])
    await expect(open(error)).rejects.toBe(error)
})
