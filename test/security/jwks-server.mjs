// Usage: JWKS=… node jwks-server.mjs. A platform where people sign in by password, or with tokens of the identity provider with these keys.
import { memoryKV } from '@turnpike/core'
import { createServer } from '@turnpike/http/node'
import { chainIdentity, createPlatform, jwksIdentity, passwordAuth, scryptHasher } from '@turnpike/platform'

const { JWKS, ADMIN_PASSWORD: password } = process.env
const kv = await memoryKV()
const passwords = passwordAuth({ kv, hasher: scryptHasher({ ln: 8 }) })
const tokens = jwksIdentity({ issuer: 'https://idp.example', audience: 'turnpike', jwks: JSON.parse(JWKS) })
const platform = createPlatform({ kv, identity: chainIdentity(passwords, tokens) })
await platform.operations.users.create({ id: 'admin', email: 'admin@localhost', password, role: 'admin' })

const server = createServer(platform)
process.once('SIGTERM', () => process.exit(0))
server.listen(0, '127.0.0.1', () => console.log(`listening on http://127.0.0.1:${server.address().port}`))
