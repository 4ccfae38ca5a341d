import { randomBytes } from 'node:crypto'
import { createPlatform, passwordAuth } from '@turnpike/platform'
import type { Role } from '@turnpike/core'
import { parseArgs } from 'node:util'
import { readEnvironment } from './environment.js'
import { openStorage } from './storage.js'

const USAGE = `Usage: npm run -s users -- COMMAND EMAIL [OPTIONS]
  add EMAIL [--role user|developer|admin] [--password PASSWORD]   makes a user
  password EMAIL [--password PASSWORD]                            gives a user another password, and ends all sign-ins
Without --password, one is made and printed. STORAGE and SESSION_SECRET are read from the environment, as by the server. Where only one
process can open the store, as with fs:, stop the server first, or use POST /api/users.`

const roles = ['user', 'developer', 'admin']

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: { role: { type: 'string', default: 'user' }, password: { type: 'string' } },
})
const [command = '', email] = positionals
if (!['add', 'password'].includes(command) || email === undefined || !roles.includes(values.role)) {
  console.error(USAGE)
  process.exit(2)
}
try {
  const { STORAGE, SESSION_SECRET: secret } = readEnvironment(process.env)
  const { kv } = await openStorage(STORAGE)
  try {
    const { users } = createPlatform({
      kv,
      identity: passwordAuth({ kv, ...(secret !== undefined && { secret }) }),
    }).operations
    const password = values.password ?? randomBytes(12).toString('base64url')
    const act = { by: 'users-cli' }
    if (command === 'add') await users.create({ email, password, role: values.role as Role }, act)
    else {
      const user = await users.find(email)
      if (!user) throw new Error(`There is no user ${email}`)
      await users.setPassword(user.id, password)
    }
    console.log(values.password === undefined ? `${email}  ${password}` : email)
  } finally {
    await kv.close()
  }
} catch (error) {
  console.error(`${command} failed: ${(error as Error).message}`)
  process.exitCode = 1
}
