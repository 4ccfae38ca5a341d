import { defineConfig } from 'tsup'

export default defineConfig({
  entry: ['index', 'fs', 'open-kv', 'postgres', 'redis', 'sqlite', 'testing', 'transfer'].map(
    (name) => `src/${name}.ts`,
  ),
  format: 'esm',
  dts: false,
  clean: true,
  sourcemap: true,
  target: 'node20',
  platform: 'neutral',
})
