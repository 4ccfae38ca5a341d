import { randomBytes } from 'node:crypto'
import { parseArgs } from 'node:util'
import type { Role } from '@turnpike/core'
import { EMAIL, ROLES } from '@turnpike/core'
import { createPlatform, passwordAuth, scryptHasher } from '@turnpike/platform'
import { loadConfig, openStorage } from 'turnpike'

const USAGE = `Usage: npm run -s users -- COMMAND EMAIL [OPTIONS]
  add EMAIL [--role ${ROLES.join('|')}] [--password PASSWORD]   makes a user
  password EMAIL [--password PASSWORD]                            gives a user another password, and ends all sign-ins
Without --password, one is made and printed; with PASSWORDS=off there is none. STORAGE, SESSION_SECRET and PASSWORD_COST or their settings in turnpike.config, are read as by the server. Where only one
process can open the store, as with fs:, stop the server first, or use POST /api/users.`

/** What the command line asks for; null where it is wrong. */
function readCommand() {
  const options = { role: { type: 'string' }, password: { type: 'string' } } as const
  try {
    const { positionals, values } = parseArgs({ allowPositionals: true, options })
    const [command, email, ...more] = positionals
    const { role = 'user', password } = values
    if (email === undefined || more.length > 0 || !ROLES.includes(role as Role)) return null
    if (command !== 'add' && (command !== 'password' || values.role !== undefined)) return null
    return { command, email, role: role as Role, password }
  } catch {
    return null
  }
}

const asked = readCommand()
if (!asked) {
  console.error(USAGE)
  process.exit(2)
}
const { command, email, role } = asked
try {
  const { store, platform } = await loadConfig()
  const { sessionSecret: secret, passwordCost: ln, passwords = true } = platform
  if (typeof store !== 'string' || store === 'memory')
    throw new Error('STORAGE=memory is a store of the server alone; use POST /api/users')
  const { kv } = await openStorage(store)
  try {
    const identity = passwordAuth({ kv, hasher: scryptHasher({ ln }), ...(secret && { secret }) })
    const { users } = createPlatform({ kv, identity }).operations
    const password = asked.password ?? randomBytes(12).toString('base64url')
    if (!passwords && (command === 'password' || asked.password !== undefined))
      throw new Error('Nobody signs in by password here (PASSWORDS=off)')
    if (command === 'add') {
      if (!EMAIL.test(email)) throw new Error(`${email} is not an e-mail address`)
      await users.create({ email, role, ...(passwords && { password }) }, { by: 'users-cli' })
    } else {
      const user = await users.find(email)
      if (!user || user.deleted_at !== null) throw new Error(`There is no user ${email}`)
      await users.setPassword(user.id, password, { by: 'users-cli' })
    }
    console.log(passwords && asked.password === undefined ? `${email}  ${password}` : email)
  } finally {
    await kv.close()
  }
} catch (error) {
  console.error(`${command} failed: ${(error as Error).message}`)
  process.exitCode = 1
}
