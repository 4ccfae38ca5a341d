import { fileURLToPath } from 'node:url'
import { gzipSync } from 'node:zlib'
import { build } from 'esbuild'
import { expect, it } from 'vitest'

const entry = fileURLToPath(new URL('../../packages/client/src/index.ts', import.meta.url))

it('the whole client is of at most 6 kB (gzip)', async () => {
  const { outputFiles } = await build({
    entryPoints: [entry],
    bundle: true,
    minify: true,
    format: 'esm',
    target: 'es2022',
    write: false,
  })
  const bytes = gzipSync(outputFiles[0]!.contents).length
  expect(bytes).toBeLessThanOrEqual(6_000)
  // Nothing of it is missing.
  expect(bytes).toBeGreaterThan(2_000)
})
