import { createClient } from '@turnpike/client'
import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { loadConfig } from '../../packages/turnpike/src/config/load.js'
import { s3Server } from '../storage/s3-server.js'
import { needs, programs } from '../support/needs.js'
import { readPage } from '../support/page.js'
import { postgres, startPostgres } from '../support/postgres.js'
import { startServer } from '../support/server.js'

interface Service {
  environment: Record<string, string>
  depends_on?: Record<string, object>
  entrypoint?: string[]
}

const { services } = parse(readPage('compose.yaml')) as { services: Record<string, Service> }
const { environment, depends_on } = services['turnpike']!
const store = new URL(environment['STORAGE']!)
const files = new URL(environment['FILES']!)
const s3 = new URL(files.searchParams.get('endpoint')!)

describe('compose.yaml', () => {
  it('has settings that the server takes, and that the other services are set to', async () => {
    await loadConfig(environment)
    expect(Object.keys(depends_on!)).toEqual([store.hostname, s3.hostname])
    expect(services[store.hostname]!.environment).toEqual({
      POSTGRES_USER: store.username,
      POSTGRES_PASSWORD: store.password,
      POSTGRES_DB: store.pathname.slice(1),
    })
    const { environment: ofS3, entrypoint } = services[s3.hostname]!
    expect(ofS3).toEqual({
      ROOT_ACCESS_KEY_ID: environment['AWS_ACCESS_KEY_ID'],
      ROOT_SECRET_ACCESS_KEY: environment['AWS_SECRET_ACCESS_KEY'],
    })
    expect(entrypoint!.at(-1)).toContain(`mkdir -p /data/${files.hostname} `)
    expect(entrypoint!.at(-1)).toContain(` --port :${s3.port} `)
  })

  it('starts a server that keeps its files in S3', needs(postgres, programs.versitygw), async () => {
    const [database, { options, objects, close }] = await Promise.all([startPostgres(), s3Server()])
    const person = { email: 'ada@example.org', password: 'the password of the tests' }
    const server = await startServer({
      ...environment,
      STORAGE: database.url,
      FILES: environment['FILES']!.replace(s3.origin, options.endpoint),
      AWS_ACCESS_KEY_ID: options.accessKeyId,
      AWS_SECRET_ACCESS_KEY: options.secretAccessKey,
      ADMIN_EMAIL: person.email,
      ADMIN_PASSWORD: person.password,
    })
    try {
      const client = createClient({ baseUrl: server.url })
      await client.signIn(person)
      await client.upload(new File(['toll'], 'gate.txt'))
      expect(await objects()).toHaveLength(1)
    } finally {
      await server.stop()
      await Promise.all([database.stop(), close()])
    }
  })
})
