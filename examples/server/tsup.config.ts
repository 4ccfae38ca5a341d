import { defineConfig } from 'tsup'

export default defineConfig({
  entry: ['src/node.ts', 'src/bun.ts'],
  format: 'esm',
  clean: true,
  sourcemap: true,
  target: 'node20',
})
