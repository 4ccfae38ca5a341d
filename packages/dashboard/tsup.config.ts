import { bundledPages } from '@turnpike/ui/bundle'
import { defineConfig } from 'tsup'

export default defineConfig({
  entry: ['src/index.ts', 'src/docs.ts'],
  format: 'esm',
  dts: false,
  clean: true,
  sourcemap: false,
  target: 'node20',
  platform: 'neutral',
  loader: { '.woff2': 'binary' },
  esbuildPlugins: [bundledPages()],
})
