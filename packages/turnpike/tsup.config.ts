import { defineConfig } from 'tsup'

export default defineConfig({
  entry: ['src/index.ts'],
  format: 'esm',
  dts: false,
  clean: true,
  sourcemap: true,
  target: 'node20',
  platform: 'node',
  // The console is not published by itself.
  noExternal: ['@turnpike/example-console'],
})
