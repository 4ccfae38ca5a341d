import { fileURLToPath } from 'node:url'
import { writeLicenses } from '@turnpike/ui/licenses'
import type { Options } from 'tsup'
import { defineConfig } from 'tsup'

const here = (path: string): string => fileURLToPath(new URL(`platform/${path}`, import.meta.url))

/** Bundles the tests of test/platform with what stands for vitest, for the process that they start, and for the stores that they run it on. */
const itemsPlugin: NonNullable<Options['esbuildPlugins']>[number] = {
  name: 'items of the platform',
  setup(build) {
    build.initialOptions.metafile = true
    build.onEnd(({ metafile }) => writeLicenses(Object.keys(metafile?.inputs ?? {}), build.initialOptions.outdir!))
    build.onResolve({ filter: /^vitest$/ }, () => ({ path: here('vitest.ts') }))
    build.onResolve({ filter: /^\.\/world\.js$/ }, ({ importer }) =>
      importer.includes('/test/platform/') ? { path: here('world.ts') } : undefined,
    )
    build.onResolve({ filter: /\/(engines|needs|s3-server)\.js$|^ioredis$/ }, () => ({ path: here('stores.ts') }))
  },
}

const common: Options = {
  format: 'esm',
  dts: false,
  target: 'node20',
  platform: 'node',
  removeNodeProtocol: false,
}

export default defineConfig([
  { ...common, entry: ['src/index.ts', 'src/cli.ts'], sourcemap: true },
  {
    ...common,
    entry: { 'platform-items': 'platform/items.ts' },
    minify: true,
    esbuildOptions: (options) => void (options.conditions = ['@turnpike/source']),
    esbuildPlugins: [itemsPlugin],
  },
])
