import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeEach, describe, expect, it } from 'vitest'
import type { Variables } from './config/load.js'
import { loadConfig } from './config/load.js'
import { shownConfig } from './config/shown.js'
import { signInVariables } from './config/variables.js'
import { openMail } from './mail.js'
import { openSignInProviders } from './sign-in.js'

const folder = mkdtempSync(join(tmpdir(), 'turnpike-sign-in-'))
const file = join(folder, 'turnpike.config.yaml')
afterAll(() => rmSync(folder, { recursive: true }))
beforeEach(() => rmSync(file, { force: true }))

const BASE_URL = 'https://ai.example'
const open = async (environment: Variables) => openSignInProviders(await loadConfig(environment, folder))
const write = (providers: string, more = '') =>
  writeFileSync(file, `server: { baseUrl: ${BASE_URL} }\nplatform: { signInProviders: ${providers}${more} }\n`)

describe('sign-in providers', () => {
  it('are made of variables, one of each kind', async () => {
    const values: Variables = {
      ENTRA_TENANT: 'common',
      OKTA_HOST: 'example.okta.com',
      AUTH0_HOST: 'example.eu.auth0.com',
      KEYCLOAK_ISSUER: 'https://id.example/realms/a',
      OIDC_ISSUER: 'https://id.example',
      OIDC_NAME: 'Example ID',
      OIDC_DOMAINS: 'ai.example, b.example',
    }
    const clients = signInVariables.map(({ clientId }) => [clientId, 'client'])
    const made = await open({ BASE_URL, ...values, ...Object.fromEntries(clients) })
    expect(made.map(({ id, name }) => [id, name])).toEqual([
      ['oidc', 'Example ID'],
      ['google', 'Google'],
      ['entra', 'Microsoft'],
      ['okta', 'Okta'],
      ['auth0', 'Auth0'],
      ['keycloak', 'Keycloak'],
      ['gitlab', 'GitLab'],
      ['github', 'GitHub'],
    ])
    expect(made[0]!.domains).toEqual(['ai.example', 'b.example'])
    // Without a client there is none.
    expect(await open({ BASE_URL, ...values })).toEqual([])
  })

  it('take every setting from variables', async () => {
    const all = {
      OIDC_SCOPES: 'openid,groups',
      OIDC_ROLE_CLAIM: 'groups',
      OIDC_ADMINS: 'Ops team, x',
      OIDC_DEVELOPERS: 'dev',
    }
    const { platform } = await loadConfig(
      {
        BASE_URL,
        OIDC_ISSUER: 'https://id.example/',
        OIDC_CLIENT_ID: 'c',
        OIDC_CLIENT_SECRET: 's',
        OIDC_SIGN_OUT: 'true',
        ...all,
      },
      folder,
    )
    expect(platform.signInProviders).toEqual([
      {
        id: 'oidc',
        issuer: 'https://id.example/',
        clientId: 'c',
        clientSecret: 's',
        scopes: ['openid', 'groups'],
        roleClaim: 'groups',
        admins: ['Ops team', 'x'],
        developers: ['dev'],
        signOut: true,
      },
    ])
  })

  it('are those of a file, where it has a list, and their secrets are not shown', async () => {
    write(
      '[{ id: one, issuer: "https://id.example", clientId: c, clientSecret: canary }, { preset: github, clientId: c }]',
      ', passwords: off',
    )
    const config = await loadConfig({ GOOGLE_CLIENT_ID: 'c' }, folder)
    expect((await openSignInProviders(config)).map(({ id }) => id)).toEqual(['one', 'github'])
    expect(config.platform.passwords).toBe(false)
    expect(JSON.stringify(shownConfig(config))).not.toContain('canary')
  })

  it('may be made by code', async () => {
    const own = { id: 'own', name: 'Own', start: async () => '', finish: async () => ({ issuer: 'x', subject: 'y' }) }
    const config = await loadConfig({ BASE_URL }, folder)
    expect(await openSignInProviders({ ...config, platform: { ...config.platform, signInProviders: [own] } })).toEqual([
      own,
    ])
  })

  it('verify e-mails in place of mail where everybody signs up', async () => {
    const env = { BASE_URL, SIGN_UP: 'open' }
    expect(await openMail(await loadConfig({ ...env, GOOGLE_CLIENT_ID: 'c' }, folder))).toBeUndefined()
    await expect(openMail(await loadConfig(env, folder))).rejects.toThrow('needs mail')
  })

  it.each<[Variables, string]>([
    [
      { GOOGLE_CLIENT_ID: 'c' },
      'platform.signInProviders needs server.baseUrl (BASE_URL), to which they send browsers back',
    ],
    [
      { PASSWORDS: 'off' },
      'platform.passwords (PASSWORDS) as off needs platform.signInProviders, such as by OIDC_CLIENT_ID',
    ],
    [{ BASE_URL, ENTRA_CLIENT_ID: 'c' }, 'The sign-in provider entra needs tenant'],
    [{ BASE_URL, OIDC_CLIENT_ID: 'c' }, 'A sign-in provider without a preset needs id and issuer'],
    [
      { BASE_URL, OIDC_CLIENT_ID: 'c', OIDC_ISSUER: 'http://id.example' },
      'The issuer of the sign-in provider "oidc" needs https',
    ],
    [{ PASSWORDS: 'no' }, 'PASSWORDS must be on or off, and not "no"'],
    [
      { BASE_URL, OIDC_CLIENT_ID: 'c', OIDC_ISSUER: 'id.example' },
      'OIDC_ISSUER must be a URL that begins with https://, and not "id.example"',
    ],
    [
      { BASE_URL, GOOGLE_CLIENT_ID: 'c', GOOGLE_DOMAINS: '@ai.example' },
      'GOOGLE_DOMAINS must be domains, such as ai.example, and not "@ai.example"',
    ],
  ])('%j is refused', async (environment, why) => {
    await expect(open(environment)).rejects.toThrow(why)
  })

  it.each([
    ['[{ clientId: c, issuer: "https://id.example" }]', 'needs id and issuer'],
    ['[{ preset: facebook, clientId: c }]', 'platform.signInProviders[0].preset must be one of google, entra,'],
    ['[{ preset: google }]', 'platform.signInProviders[0].clientId'],
    ['[{ preset: google, clientId: c, secret: canary }]', 'platform.signInProviders[0].secret'],
  ])('%s of a file is refused', async (providers, why) => {
    write(providers)
    await expect(open({})).rejects.toThrow(why)
    await expect(open({})).rejects.not.toThrow('canary')
  })
})
