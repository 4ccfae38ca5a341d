import { expect, it } from 'vitest'
import type { VertexOptions } from './index.js'
import { vertex } from './index.js'

const key = {
  client_email: 'gateway@acme.iam.gserviceaccount.com',
  private_key: '-----BEGIN PRIVATE KEY-----\nMIIE\n-----END PRIVATE KEY-----\n',
  project_id: 'acme',
}

it.each<[name: string, options: object, message: string]>([
  ['no credential', { project: 'acme' }, 'vertex: the option "apiKey" is not set'],
  ['no project', { token: 't' }, 'vertex: the option "project" is not set'],
  ['a location without a project', { apiKey: 'k', location: 'eu' }, 'vertex: the option "project" is not set'],
  ['a path as project', { project: 'a/../b', token: 't' }, 'vertex: the option "project" must be the id'],
  ['a host as location', { project: 'a', token: 't', location: 'evil.example/' }, 'vertex: the option "location"'],
  ['two credentials', { project: 'a', token: 't', apiKey: 'k' }, 'vertex: only one of the options'],
  ['a path of a key', { credentials: './key.json' }, 'must be the key of a service account'],
  [
    'credentials of a user',
    { project: 'a', credentials: { type: 'authorized_user', refresh_token: 'r' } },
    '"token" is for all others',
  ],
  [
    'a key without an account',
    { project: 'a', credentials: { ...key, client_email: undefined } },
    'vertex: the option "credentials.client_email" is not set',
  ],
  [
    'another form of key',
    {
      credentials: { ...key, private_key: '-----BEGIN RSA PRIVATE KEY-----\nMII\n-----END RSA PRIVATE KEY-----' },
    },
    'must be a PEM of PKCS #8',
  ],
  [
    'an open token endpoint',
    { credentials: { ...key, token_uri: 'http://oauth2.googleapis.com/token' } },
    'vertex: the option "credentials.token_uri" must begin with https://',
  ],
  ['live models', { project: 'a', token: 't', models: 'live' }, 'vertex: the option "models" must be a list'],
])('%s is refused', (_, options, message) => {
  expect(() => vertex(options as VertexOptions)).toThrow(message)
})
