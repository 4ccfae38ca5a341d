import { memoryKV } from '@turnpike/core'
import { createGateway } from '@turnpike/gateway'
import { createServer } from '@turnpike/http/node'
import { createPlatform, jwksIdentity } from '@turnpike/platform'
import { createRouter, openai } from '@turnpike/providers'
import { fakeOpenAI } from '@turnpike/providers/testing'
import { startIssuer } from './issuer.js'

const issuer = await startIssuer()
const audience = 'https://api.example'

const identity = jwksIdentity({
  // With Auth0 https://<tenant>.auth0.com/, with Keycloak https://<host>/realms/<realm>.
  issuer: issuer.url,
  audience,
  // With Keycloak, jwksUrl: <issuer>/protocol/openid-connect/certs; the default is <issuer>/.well-known/jwks.json.
  user: ({ sub, email, email_verified: isVerified = true, roles }) => ({
    userId: String(sub),
    profile: {
      // What others share is for whoever has the e-mail.
      email: typeof email === 'string' && isVerified === true ? email : null,
      role: Array.isArray(roles) && roles.includes('developer') ? 'developer' : 'user',
      provider: 'auth0',
    },
  }),
})

const kv = await memoryKV()
const provider = openai({ apiKey: 'simulated', transport: fakeOpenAI({ delayMs: 50, remember: 0 }).transport })
const gateway = createGateway({ router: createRouter({ providers: [provider] }), kv, simulated: true })
const platform = createPlatform({ kv, gateway, identity })
createServer(platform).listen(process.env.PORT ?? 8787)

// What an application gets from the identity provider when somebody signs in there.
const ada = { aud: audience, sub: 'auth0|ada', email: 'ada@example.org', roles: ['developer'] }
console.log(`Access token: ${await issuer.mint(ada)}`)
