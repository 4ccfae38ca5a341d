import { defineConfig } from 'tsup'

export default defineConfig({
  entry: ['src/index.ts', 'src/node.ts', 'src/openapi.ts'],
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
