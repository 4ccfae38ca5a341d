import { defineConfig } from 'tsup'

export default defineConfig({
  entry: ['index', 'blobs', 'fs', 'open-kv', 'postgres', 'redis', 's3', 'sqlite', 'testing', 'transfer'].map(
    (name) => `src/${name}.ts`,
  ),
  format: 'esm',
  dts: false,
  clean: true,
  sourcemap: true,
  target: 'node20',
  platform: 'neutral',
  // Bundlers of Workers and Deno know the modules of Node by `node:` only.
  removeNodeProtocol: false,
  external: [/^node:/],
})
