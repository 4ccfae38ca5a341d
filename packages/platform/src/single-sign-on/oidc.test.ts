import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import type { ScriptedIssuer } from '../../../../test/support/scripted-issuer.js'
import { scriptedIssuer } from '../../../../test/support/scripted-issuer.js'
import { PROVIDER_ANSWER_BYTES, PROVIDER_CACHE_S, PROVIDER_ID_TOKEN, PROVIDER_S } from '../conventions.js'
import { oidc } from './oidc.js'
import { presetOf } from './presets.js'
import { SignInCancelled } from './provider.js'

const begun = {
  redirectUri: 'https://ai.example/api/auth/callback/x',
  state: 's'.repeat(43),
  nonce: 'n',
  verifier: 'v'.repeat(64),
}
const TENANT = '11111111-2222-3333-4444-555555555555'

let issuer: ScriptedIssuer
beforeEach(async () => {
  issuer = await scriptedIssuer()
  issuer.claims = { nonce: 'n', email: 'ada@ai.example', email_verified: true }
})
afterEach(() => issuer.close())

const make = (more: object = {}) =>
  oidc({ id: 'x', issuer: issuer.url, clientId: 'client', clientSecret: 'a secret/+', ...more })
const answer = (more: Record<string, string> = {}) => new URLSearchParams({ code: 'c', state: begun.state, ...more })
const finish = (more: object = {}, back: Record<string, string> = {}) => make(more).finish(answer(back), begun)

describe('an issuer', () => {
  it('is asked with PKCE, and its answer is read', async () => {
    const url = new URL(await make({ scopes: ['openid', 'groups'] }).start(begun))
    expect(Object.fromEntries(url.searchParams)).toEqual({
      response_type: 'code',
      client_id: 'client',
      redirect_uri: begun.redirectUri,
      scope: 'openid groups',
      state: begun.state,
      nonce: 'n',
      // RFC 7636, appendix B, in this form: the SHA-256 of the verifier in base64url.
      code_challenge: Buffer.from(
        await crypto.subtle.digest('SHA-256', new TextEncoder().encode(begun.verifier)),
      ).toString('base64url'),
      code_challenge_method: 'S256',
    })
    expect(await finish()).toEqual({
      issuer: issuer.url,
      subject: 'ada',
      email: 'ada@ai.example',
      firstName: undefined,
      lastName: undefined,
      role: undefined,
    })
    const { body, authorization } = issuer.asked.find(({ path }) => path === '/token')!
    expect(new URLSearchParams(body).get('code_verifier')).toBe(begun.verifier)
    expect(atob(authorization!.slice(6))).toBe('client:a+secret%2F%2B')
  })

  it('gets the secret in the body where it takes that', async () => {
    issuer.metadata = { token_endpoint_auth_methods_supported: ['client_secret_basic', 'client_secret_post'] }
    await finish()
    const { body, authorization } = issuer.asked.find(({ path }) => path === '/token')!
    expect([new URLSearchParams(body).get('client_secret'), authorization]).toEqual(['a secret/+', undefined])
  })

  it('is asked for its metadata once an hour, and again after a failure', async () => {
    const provider = make()
    issuer.answer = (_, response) => Boolean(response.writeHead(503).end())
    await expect(provider.start(begun)).rejects.toThrow()
    issuer.answer = undefined
    await provider.start(begun)
    await provider.start(begun)
    expect(issuer.asked).toHaveLength(2)
    vi.setSystemTime(Date.now() + PROVIDER_CACHE_S * 1_000)
    await provider.start(begun)
    vi.useRealTimers()
    expect(issuer.asked).toHaveLength(3)
  })

  it('is asked for claims that the ID token has not', async () => {
    issuer.claims = { nonce: 'n' }
    expect((await finish()).email).toBe('claims@ai.example')
    issuer.claims = { nonce: 'n', sub: 'somebody else' }
    await expect(finish()).rejects.toThrow()
  })

  it('threat 134: an e-mail of one answer is not verified by another', async () => {
    issuer.claims = { nonce: 'n', email_verified: true }
    issuer.userinfo = { email_verified: false }
    expect((await finish()).email).toBeUndefined()
    // What is missing here is the role.
    issuer.claims = { nonce: 'n', email: 'admin@ai.example' }
    issuer.userinfo = { roles: ['admin'] }
    expect(await finish({ roleClaim: 'roles' })).toMatchObject({ email: undefined, role: 'admin' })
  })

  it('tells a cancelled sign-in', async () => {
    await expect(
      make().finish(new URLSearchParams({ error: 'access_denied', state: begun.state }), begun),
    ).rejects.toThrow(SignInCancelled)
  })

  it.each<[string, object]>([
    ['another nonce', { nonce: 'other' }],
    ['no nonce', { nonce: undefined }],
    ['another issuer', { iss: 'https://other.example' }],
    ['another audience', { aud: 'other' }],
    ['several audiences, and another authorized party', { aud: ['client', 'other'], azp: 'other' }],
  ])('is not believed with %s', async (_, claims) => {
    Object.assign(issuer.claims, claims)
    await expect(finish()).rejects.toThrow()
  })

  it('is not believed with the signature of another key', async () => {
    issuer.isForging = true
    await expect(finish()).rejects.toThrow()
  })

  it('is not believed where its metadata are of another issuer', async () => {
    issuer.metadata = { issuer: 'https://other.example' }
    await expect(finish()).rejects.toThrow()
  })

  it.each<[string, Record<string, string>, Record<string, unknown>]>([
    ['another state', { state: 'other' }, {}],
    ['the iss of another issuer', { iss: 'https://other.example' }, {}],
    ['no iss, where it says that it sends one', {}, { authorization_response_iss_parameter_supported: true }],
  ])('has an answer refused with %s', async (_, back, metadata) => {
    issuer.metadata = metadata
    await expect(finish({}, back)).rejects.toThrow()
    expect(issuer.asked.map(({ path }) => path)).not.toContain('/token')
  })

  it('keeps the ID token for the sign-out, where it is short', async () => {
    issuer.metadata = { end_session_endpoint: `${issuer.url}/end` }
    const { idToken } = await finish({ signOut: true })
    const returnTo = 'https://ai.example/console'
    const url = new URL((await make({ signOut: true }).signOut!({ idToken, returnTo }))!)
    expect(Object.fromEntries(url.searchParams)).toEqual({
      client_id: 'client',
      post_logout_redirect_uri: returnTo,
      id_token_hint: idToken,
    })
    issuer.claims['groups'] = 'x'.repeat(PROVIDER_ID_TOKEN)
    expect((await finish({ signOut: true })).idToken).toBeUndefined()
    expect((await finish()).idToken).toBeUndefined()
    issuer.metadata = {}
    expect(await make({ signOut: true }).signOut!({ idToken, returnTo })).toBeUndefined()
  })

  it.each([
    ['http://id.example', 'needs https'],
    ['id.example', 'is no URL'],
  ])('%s is refused when it is configured', (at, why) => {
    expect(() => make({ issuer: at })).toThrow(why)
  })
})

describe('roles', () => {
  const roleOf = async (claims: object, more: object) => {
    Object.assign(issuer.claims, claims)
    return (await finish(more)).role
  }
  const roles = { admin: ['Ops team'], developer: ['dev', 'Dev'] }

  it.each<[unknown, string]>([
    [['dev', 'Ops team'], 'admin'],
    [['other', 'Dev'], 'developer'],
    ['dev', 'developer'],
    [[], 'user'],
    [['admin', 'developer'], 'user'],
    [{ admin: true }, 'user'],
    [undefined, 'user'],
  ])('of groups %j: %s', async (groups, role) =>
    expect(await roleOf({ groups }, { roleClaim: 'groups', roles })).toBe(role),
  )

  it('are called by their own names by default, and may be deeper', async () => {
    const at = { realm_access: { roles: ['developer'] }, 'https://ai.example/roles': ['admin'] }
    expect(await roleOf(at, { roleClaim: 'realm_access.roles' })).toBe('developer')
    expect(await roleOf(at, { roleClaim: 'https://ai.example/roles' })).toBe('admin')
    expect(await roleOf({ constructor: { name: 'admin' } }, { roleClaim: 'groups.constructor.name' })).toBe('user')
  })
})

it('threat 134: an e-mail that Google has verified once, of a private account', async () => {
  const emailOf = async (claims: object) => {
    issuer.claims = { nonce: 'n', email: 'ada@ai.example', email_verified: true, ...claims }
    return (await finish({ isEmailVerified: presetOf('google', {}).isEmailVerified })).email
  }
  expect(await emailOf({})).toBeUndefined()
  expect(await emailOf({ hd: 'ai.example', email_verified: false })).toBeUndefined()
  expect(await emailOf({ email: 'ada@gmail.com.example' })).toBeUndefined()
  expect(await emailOf({ hd: 'ai.example' })).toBe('ada@ai.example')
  expect(await emailOf({ email: 'ada@gmail.com' })).toBe('ada@gmail.com')
})

describe('Entra', () => {
  const { isEmailVerified } = presetOf('entra', { tenant: 'common' })

  it('has an issuer for each tenant', async () => {
    await issuer.close()
    issuer = await scriptedIssuer('/common/v2.0')
    const origin = new URL(issuer.url).origin
    issuer.metadata = { issuer: `${origin}/{tenantid}/v2.0` }
    issuer.claims = {
      nonce: 'n',
      tid: TENANT,
      iss: `${origin}/${TENANT}/v2.0`,
      email: 'ada@ai.example',
      xms_edov: true,
    }
    const more = { issuer: issuer.url, isEmailVerified }
    expect(await finish(more)).toMatchObject({ issuer: `${origin}/${TENANT}/v2.0`, email: 'ada@ai.example' })
    issuer.claims['tid'] = TENANT.replace('1', '9')
    await expect(finish(more)).rejects.toThrow()
    issuer.claims['tid'] = undefined
    await expect(finish(more)).rejects.toThrow('names no tenant')
  })

  it.each(['/common/v2.0', '/Organizations/v2.0'])('threat 183: %s grants no roles by a claim', async (path) => {
    await issuer.close()
    issuer = await scriptedIssuer(path)
    expect(() => make({ issuer: issuer.url, roleClaim: 'roles' })).toThrow('the id of one tenant')
    expect(() => make({ issuer: issuer.url })).not.toThrow()
    // Neither do others that have an issuer for each tenant.
    await issuer.close()
    issuer = await scriptedIssuer('/other/v2.0')
    const origin = new URL(issuer.url).origin
    issuer.metadata = { issuer: `${origin}/{tenantid}/v2.0` }
    issuer.claims = { nonce: 'n', tid: TENANT, iss: `${origin}/${TENANT}/v2.0`, roles: ['admin'] }
    const more = { issuer: issuer.url }
    await expect(finish({ ...more, roleClaim: 'roles' })).rejects.toMatchObject({ code: 'roles_of_any_tenant' })
    expect((await finish(more)).role).toBeUndefined()
  })

  it('threat 134: an e-mail that nobody has verified, by an administrator of some other tenant', async () => {
    const emailOf = async (claims: object, tenant: string) => {
      issuer.claims = { nonce: 'n', email: 'ada@ai.example', ...claims }
      const { isEmailVerified } = presetOf('entra', { tenant })
      return (await finish({ isEmailVerified })).email
    }
    expect(await emailOf({}, 'common')).toBeUndefined()
    expect(await emailOf({ email_verified: true }, 'organizations')).toBeUndefined()
    expect(await emailOf({ xms_edov: false }, 'common')).toBeUndefined()
    expect(await emailOf({ xms_edov: '1' }, 'common')).toBe('ada@ai.example')
    expect(await emailOf({}, TENANT)).toBe('ada@ai.example')
  })
})

describe('presets', () => {
  it.each([
    [presetOf('google', {}), 'https://accounts.google.com'],
    [presetOf('entra', { tenant: TENANT.toUpperCase() }), `https://login.microsoftonline.com/${TENANT}/v2.0`],
    [presetOf('okta', { host: 'example.okta.com' }), 'https://example.okta.com'],
    [presetOf('auth0', { host: 'example.eu.auth0.com' }), 'https://example.eu.auth0.com/'],
    [presetOf('keycloak', { issuer: 'https://id.example/realms/a' }), 'https://id.example/realms/a'],
    [presetOf('gitlab', {}), 'https://gitlab.com'],
    [presetOf('gitlab', { issuer: 'https://git.example' }), 'https://git.example'],
  ])('%j', ({ issuer }, url) => expect(issuer).toBe(url))

  it.each<[Parameters<typeof presetOf>, string]>([
    [['entra', {}], 'needs tenant'],
    [['entra', { tenant: 'example.onmicrosoft.com' }], 'needs tenant'],
    [['okta', { host: 'https://example.okta.com' }], 'needs host'],
    [['auth0', {}], 'needs host'],
    [['keycloak', {}], 'needs issuer'],
  ])('%j', (given, why) => expect(() => presetOf(...given)).toThrow(why))
})

describe('threat 135: answers of an issuer', () => {
  it('that are large are not read to their end', async () => {
    issuer.answer = (path, response) => {
      if (path !== '/token') return false
      response.setHeader('content-type', 'application/json')
      response.end(`{"a":"${'x'.repeat(PROVIDER_ANSWER_BYTES)}"}`)
      return true
    }
    await expect(finish()).rejects.toThrow('too large')
  })

  it('that do not come are not waited for', async () => {
    const limit = vi.spyOn(AbortSignal, 'timeout').mockImplementation((ms) => {
      expect(ms).toBe(PROVIDER_S * 1_000)
      return AbortSignal.abort(new Error('It took too long'))
    })
    issuer.answer = () => true
    await expect(finish()).rejects.toThrow('It took too long')
    limit.mockRestore()
  })

  it('that lead elsewhere are not followed', async () => {
    issuer.answer = (path, response) =>
      path === '/keys' && Boolean(response.writeHead(302, { location: `${issuer.url}/other` }).end())
    await expect(finish()).rejects.toThrow()
    expect(issuer.asked.map(({ path }) => path)).not.toContain('/other')
  })
})
