import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { s3Blobs } from '@turnpike/storage/s3'
import { AwsClient } from 'aws4fetch'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Fault, S3Server } from '../storage/s3-server.js'
import { queryOf, s3Server } from '../storage/s3-server.js'
import { options } from '../support/blobs.js'
import { needs, programs } from '../support/needs.js'
import { runtimePath } from '../support/runtime.js'
import { sample } from '../support/scope.js'

const DAY = 86_400_000
const forward: Fault = (_request, _response, pass) => pass()

describe('a sweep in S3', needs(programs.versitygw), () => {
  let server: S3Server
  beforeAll(async () => {
    server = await s3Server()
  })
  afterAll(() => server.close())

  /** Begins an upload of an object, as a process that dies then does. */
  async function begin(name: string): Promise<string> {
    const { endpoint, bucket, ...credentials } = server.options
    const client = new AwsClient({ ...credentials, service: 's3' })
    const answer = await client.fetch(`${endpoint}/${bucket}/${name}?uploads=`, { method: 'POST' })
    return /<UploadId>([^<]*)/.exec(await answer.text())![1]!
  }

  // Begin, three parts, end.
  it.each(sample([3, 1, 2, 4, 5]))('finds what a writer leaves that is killed at request %i of a put', async (last) => {
    const blobs = s3Blobs(server.options)
    await blobs.put('key', Buffer.from('old'), options)
    const script = fileURLToPath(new URL('s3-writer.mjs', import.meta.url))
    const writer = spawn(runtimePath(), [script, JSON.stringify(server.options)], { stdio: 'inherit' })
    let requests = 0
    server.fault = async (_request, _response, pass) => {
      await pass()
      if (++requests === last) writer.kill('SIGKILL')
    }
    expect(await once(writer, 'close')).toEqual([null, 'SIGKILL'])
    server.fault = forward
    const left = last === 5 ? 0 : 1
    expect(await blobs.sweep()).toBe(0)
    expect(await blobs.sweep(60_000)).toBe(0)
    expect(await server.uploads()).toHaveLength(left)
    expect(await blobs.sweep(0)).toBe(left)
    expect(await server.uploads()).toEqual([])
    expect((await blobs.get('key'))?.size).toBe(last === 5 ? 11 * 2 ** 20 : 3)
  })

  it('is limited to the prefix', async () => {
    const prefix = 'a b&"c/'
    const kept = await begin('others/key')
    await begin(`${prefix}key`)
    await begin(`${prefix}key`)
    await begin(`${prefix}~41/key`)
    expect(await s3Blobs({ ...server.options, prefix }).sweep(0)).toBe(3)
    expect(await server.uploads()).toEqual([kept])
    expect(await s3Blobs(server.options).sweep(0)).toBe(1)
  })

  it('reads all pages, and leaves out uploads of the last two days and finished ones', async () => {
    const old = [await begin('a&b'), await begin('c')]
    const young = await begin('a&b')
    await s3Blobs(server.options).put('kept', Buffer.from('bytes'), options)
    const uploadOf = (key: string, id: string, days: number): string =>
      `<Upload><Initiated>${new Date(Date.now() - days * DAY).toISOString()}</Initiated><Key>${key}</Key><UploadId>${id}</UploadId></Upload>`
    // versitygw itself refuses a marker that it gave.
    const pages = [
      `<IsTruncated>true</IsTruncated><NextKeyMarker>a&amp;b</NextKeyMarker><NextUploadIdMarker>${young}</NextUploadIdMarker>` +
        uploadOf('a&amp;b', old[0]!, 2.1) +
        uploadOf('a&amp;b', young, 1.9),
      `<IsTruncated>false</IsTruncated>${uploadOf('b', young, 3)}${uploadOf('c', old[1]!, 3)}` +
        // Incomplete entries.
        uploadOf('kept', '', 3) +
        uploadOf('', old[1]!, 3),
    ]
    const markers: (string | null)[][] = []
    server.fault = (request, response, pass) => {
      if (request.method !== 'GET') return pass()
      const query = queryOf(request)
      markers.push([query.get('key-marker'), query.get('upload-id-marker')])
      return response.end(`<ListMultipartUploadsResult>${pages[markers.length - 1]}</ListMultipartUploadsResult>`)
    }
    expect(await s3Blobs(server.options).sweep()).toBe(2)
    expect(markers).toEqual([
      [null, null],
      ['a&b', young],
    ])
    expect(await server.uploads()).toEqual([young])
    server.fault = forward
    expect((await s3Blobs(server.options).get('kept'))?.size).toBe(5)
  })
})
