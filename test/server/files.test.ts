import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { startServer } from '../support/server.js'

it('the server warns where the bytes of files outlive their records', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'turnpike-files-'))
  const warning = 'STORAGE=memory forgets all files'
  const lasting = await startServer({ STORAGE: 'memory', FILES: `fs:${folder}` })
  await lasting.stop()
  expect(lasting.output()).toContain(warning)
  for (const env of [{ STORAGE: 'memory' }, { STORAGE: `fs:${folder}/store`, FILES: `fs:${folder}/files` }]) {
    const server = await startServer(env)
    await server.stop()
    expect(server.output()).not.toContain(warning)
  }
  await rm(folder, { recursive: true })
})
