import { defineConfig } from 'tsup'

export default defineConfig({
  entry: ['src/index.ts', 'src/openapi.ts', 'src/single-sign-on.ts'],
  format: 'esm',
  dts: false,
  clean: true,
  sourcemap: true,
  target: 'node20',
  platform: 'neutral',
})
