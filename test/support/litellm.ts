/** What the tests of the conversion of LiteLLM's configuration share. @module */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parse, stringify } from 'yaml'
import { checkProviders } from '../../packages/turnpike/src/providers.js'
import { fromLitellm } from '../../packages/turnpike/src/config/from-litellm.js'
import { loadConfig } from '../../packages/turnpike/src/config/load.js'

/** The key of a service account, in the form of Google's file. */
const account = {
  client_email: 'me@a-project.iam.gserviceaccount.com',
  private_key: '-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n',
}

/** What a variable of this name may hold. */
const valueOf = (name: string, folder: string): string => {
  if (name === 'DATABASE_URL') return 'postgres://db.example/turnpike'
  if (/BASE|ENDPOINT/.test(name)) return 'https://a.example'
  if (/REGION/.test(name)) return 'eu-west-1'
  if (name === 'GOOGLE_APPLICATION_CREDENTIALS') return join(folder, 'key.json')
  return 'a-value-of-a-variable'
}

export const convert = (yaml: string) => fromLitellm(parse(yaml, { version: '1.1' }))
/** Reads a configuration as a server does, with its variables set. @throws ConfigError where it is wrong */
export async function check(config: object) {
  const folder = mkdtempSync(join(tmpdir(), 'turnpike-litellm-'))
  try {
    const yaml = stringify(config)
    writeFileSync(join(folder, 'turnpike.config.yaml'), yaml)
    writeFileSync(join(folder, 'key.json'), JSON.stringify(account))
    const names = [...yaml.matchAll(/\$\{(\w+)\}/g)].map(([, name]) => name!)
    const loaded = await loadConfig(Object.fromEntries(names.map((name) => [name, valueOf(name, folder)])), folder)
    await checkProviders(loaded)
    return loaded
  } finally {
    rmSync(folder, { recursive: true })
  }
}
export const providersOf = (yaml: string): unknown => convert(yaml).config.providers
export const groupsOf = (yaml: string): unknown => convert(yaml).config.routing?.groups
export const notesOf = (yaml: string): string[] => convert(yaml).notes.map(({ path, reason }) => `${path}: ${reason}`)
/** A list of models, each as its name and the parameters of its deployment. */
export const models = (...entries: [name: string, params: object][]): string =>
  stringify({ model_list: entries.map(([model_name, litellm_params]) => ({ model_name, litellm_params })) })
