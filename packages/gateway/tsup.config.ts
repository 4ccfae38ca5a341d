import { defineConfig } from 'tsup'

export default defineConfig({
  entry: ['src/index.ts', 'src/openapi.ts', 'src/opentelemetry.ts', 'src/prometheus.ts'],
  format: 'esm',
  dts: false,
  clean: true,
  sourcemap: true,
  target: 'node20',
  platform: 'neutral',
})
