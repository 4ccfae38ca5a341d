import { generateKeyPairSync } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { checkProviders } from '../providers.js'
import type { Variables } from './load.js'
import { loadConfig } from './load.js'
import type { Config } from './schema.js'
import { shownConfig } from './shown.js'

let folder: string
beforeEach(() => void (folder = mkdtempSync(join(tmpdir(), 'turnpike-config-'))))
afterEach(() => rmSync(folder, { recursive: true }))

/** Reads a configuration with a list of providers, in YAML, and makes them. */
async function check(providers: string, environment: Variables = {}): Promise<Config> {
  writeFileSync(join(folder, 'turnpike.config.yaml'), `providers: ${providers}`)
  const config = await loadConfig(environment, folder)
  await checkProviders(config)
  return config
}

describe('the settings of a provider', () => {
  it('may be texts, from variables, and headers are not shown', async () => {
    const config = await check(
      '[{ type: ollama, headers: { X-Team: "${TEAM}" }, retries: "${N}", models: [{ id: m, price: { input: "${N}" }, maxOutput: "${N}" }] }]',
      { TEAM: 'canary', N: '2' },
    )
    const models = [{ id: 'm', price: { input: 2 }, maxOutput: 2 }]
    expect(config.providers).toMatchObject([{ headers: { 'X-Team': 'canary' }, retries: 2, models }])
    expect(shownConfig(config)).toMatchObject({ providers: [{ headers: { 'X-Team': '…' }, retries: 2, models }] })
  })

  it.each<[what: string, providers: string, fault: string]>([
    [
      'a header of the adapter',
      '[{ type: groq, apiKey: k, headers: { Authorization: canary } }]',
      'providers[0].headers.Authorization is sent by the adapter itself',
    ],
    ['no key', '[{ type: groq }]', 'providers[0].apiKey is not set'],
    [
      'a version that is no date',
      '[{ type: azure, apiKey: k, baseURL: "https://a.example", apiVersion: v1 }]',
      'providers[0].apiVersion must be a date, such as 2024-10-21, and not "v1"; the v1 API needs none',
    ],
    [
      'two names of a model',
      '[{ type: azure, apiKey: k, baseURL: "https://a.example", deployments: { a: b }, models: [{ id: a, upstream: c }] }]',
      'providers[0]: the model "a" is there twice',
    ],
    [
      'an alias of an alias',
      '[{ type: ollama, aliases: { a: b, b: c } }]',
      'the alias "a" of "ollama" stands for "b", which is an alias',
    ],
    [
      'a price that cannot be',
      '[{ type: ollama, models: [{ id: m, price: { input: 1, cache_read: 2 } }] }]',
      'Price of ollama/m: cache_read is 2; expected at most input, which is 1',
    ],
  ])('are refused for %s', async (_, providers, fault) => {
    await expect(check(providers)).rejects.toMatchObject({ faults: [fault] })
  })
})

describe('the key of a service account', () => {
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
  const private_key = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString()
  const key = JSON.stringify({ client_email: 'a@b', private_key, project_id: 'p' })
  const checkKey = (credentials: string) => check(JSON.stringify([{ type: 'vertex', credentials }]))

  it('is JSON in a text, or the path of its file, and is not shown', async () => {
    writeFileSync(join(folder, 'key.json'), key)
    for (const credentials of [key, join(folder, 'key.json')])
      expect(shownConfig(await checkKey(credentials))).toMatchObject({ providers: [{ credentials: '…' }] })
  })

  it.each([
    ['{"client_email":"canary', 'it is no JSON'],
    ['canary.json', 'there is no such file'],
  ])('is not in the error where it cannot be read: %s', async (given, why) => {
    await expect(checkKey(given)).rejects.toMatchObject({
      faults: [`providers[0].credentials cannot be read as the key of a service account: ${why}`],
    })
  })
})
