import { writeFileSync } from 'node:fs'
import { defineConfig } from 'tsup'
import { configJsonSchema } from './src/config/json-schema.js'

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
  async onSuccess() {
    writeFileSync('dist/config.schema.json', JSON.stringify(configJsonSchema(), null, 2))
  },
})
