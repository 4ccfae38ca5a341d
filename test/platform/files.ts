import { readdir } from 'node:fs/promises'
import { Redis } from 'ioredis'
import { programs } from '../support/needs.js'
import { s3Server } from '../storage/s3-server.js'
import type { Part } from '../support/forms.js'
import { BOUNDARY, field, filePart, formBytes, formType } from '../support/forms.js'
import { engines, newFolder, untilEnd } from '../support/engines.js'
import { runtime } from '../support/runtime.js'
import { sample } from '../support/scope.js'
import type { Reply, SignedIn, World, WorldStores } from './world.js'
import { worldSuite } from './world.js'

/** A file as the API shows it. */
export interface UserFile {
  id: string
  display_name: string
  mime_type: string
  size_bytes: number
  is_public: boolean
  url: string
  storage_key: string
  deleted_at: string | null
  created_at: string
}

export interface UploadOptions {
  name?: string
  type?: string
  /** Fields before the file, and behind it. */
  before?: Record<string, string>
  after?: Record<string, string>
  headers?: Record<string, string>
}

const fieldsOf = (fields: Record<string, string> = {}): Part[] =>
  Object.entries(fields).map(([name, value]) => field(name, value))

/** Uploads a file. */
export const upload = (
  world: World,
  as: SignedIn | undefined,
  bytes: Uint8Array | string,
  { name = 'a.txt', type = 'text/plain', before, after, headers }: UploadOptions = {},
): Promise<Reply<UserFile>> =>
  sendForm(world, as, formBytes([...fieldsOf(before), filePart(bytes, name, type), ...fieldsOf(after)]), headers)

/** Sends a form as it is. */
export async function sendForm(
  world: World,
  as: SignedIn | undefined,
  form: Uint8Array | ReadableStream<Uint8Array>,
  headers: Record<string, string> = {},
): Promise<Reply<UserFile>> {
  const response = await fetch(`${world.url}/api/user-files`, {
    method: 'POST',
    headers: {
      ...(as && { authorization: `Bearer ${as.access}` }),
      'content-type': formType(BOUNDARY),
      ...headers,
    },
    body: form as Uint8Array<ArrayBuffer>,
    ...(form instanceof ReadableStream && { duplex: 'half' }),
  })
  return { status: response.status, body: (await response.json()) as UserFile, headers: response.headers }
}

/** The answer to a request for the bytes of a file. */
export async function download(
  url: string,
  headers: Record<string, string> = {},
  method = 'GET',
): Promise<Omit<Reply, 'body'> & { bytes: Buffer; text: string }> {
  const response = await fetch(url, { method, headers })
  const bytes = Buffer.from(await response.arrayBuffer())
  const { status, headers: answered } = response
  return { status, bytes, text: bytes.toString('latin1'), headers: answered }
}

/** The `Content-Length` of an answer; Bun leaves that of a streamed one out (oven-sh/bun#10507). */
export const lengthOf = (headers: Headers, bytes: number): string | null =>
  headers.get('content-length') ?? (runtime === 'bun' ? String(bytes) : null)

/** The files of somebody, or those in the trash. */
export const listed = async (world: World, as: SignedIn, trashed = false): Promise<UserFile[]> =>
  (await world.ask<UserFile[]>('GET', `/api/user-files${trashed ? '?trashed=true' : ''}`, { as })).body

interface FileStores extends WorldStores {
  create(): Promise<{
    storage: string
    env: Record<string, string>
    /** What is stored of the bytes of files, also what was left behind, in no order that lasts. */
    pieces?(): Promise<string[]>
  }>
}

const engine = (name: string) => engines.find((one) => one.name === name)!

async function onFolder(storage: string) {
  const folder = await newFolder()
  return {
    storage,
    env: { FILES: `fs:${folder}` },
    pieces: async () => (await readdir(folder, { recursive: true })).filter((name) => name.endsWith('.item')),
  }
}

async function onRedis(storage: string) {
  const client = new Redis(storage)
  untilEnd(async () => client.disconnect())
  return { storage, env: { FILES: storage }, pieces: () => client.keys('turnpike-files:*') }
}

async function onS3(storage: string) {
  const server = await s3Server()
  untilEnd(() => server.close())
  const { endpoint, bucket, region, accessKeyId, secretAccessKey } = server.options
  const query = new URLSearchParams({ endpoint, region }).toString()
  return {
    storage,
    env: {
      FILES: `s3://${bucket}?${query}`,
      AWS_ACCESS_KEY_ID: accessKeyId,
      AWS_SECRET_ACCESS_KEY: secretAccessKey,
    },
    pieces: async () => [...(await server.objects()), ...(await server.uploads())],
  }
}

/** Stores of records, and of bytes. */
const stores: FileStores[] = [
  { name: 'memory', needed: [], create: async () => ({ storage: 'memory', env: { FILES: 'memory' } }) },
  { name: 'fs', needed: [], create: async () => onFolder(await engine('fs').create()) },
  { name: 'redis', needed: engine('redis').needed, create: async () => onRedis(await engine('redis').create()) },
  { name: 'fs and S3', needed: [programs.versitygw], create: async () => onS3(await engine('fs').create()) },
  {
    name: 'postgres and fs',
    needed: engine('postgres').needed,
    create: async () => onFolder(await engine('postgres').create()),
  },
]

/** A kind of store, by its name. */
export const fileStore = (name: string): FileStores => stores.find((store) => store.name === name)!

/** Stores of records, and of bytes, that survive the end of a process; the first one only in `npm test`. */
export const durableStores = sample(stores.slice(1))

/** Tests of one process with files: in memory or, in `npm run test:all`, on each kind of store. @param env further environment of server.mjs */
export const filesSuite = (name: string, suite: (world: () => World) => void, env?: Record<string, string>): void =>
  worldSuite(name, suite, env, stores)
