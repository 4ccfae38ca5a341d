import { randomBytes } from 'node:crypto'
import { createPlatform, passwordAuth } from '@turnpike/platform'
import { gateway, kv } from './gateway.js'

export const platform = createPlatform({ kv, gateway, identity: passwordAuth({ kv }) })

const password = randomBytes(12).toString('base64url')
await platform.operations.users.create({ email: 'admin@localhost', password, role: 'admin' })
console.log(`Administrator: admin@localhost, password ${password}`)
