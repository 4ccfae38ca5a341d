import { bundledPages } from '@turnpike/ui/bundle'
import { defineConfig } from 'tsup'

export default defineConfig({
  entry: ['src/index.ts'],
  format: 'esm',
  clean: true,
  target: 'node20',
  platform: 'neutral',
  loader: { '.woff2': 'binary' },
  esbuildPlugins: [bundledPages()],
})
