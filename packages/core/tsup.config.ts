import { defineConfig } from 'tsup'

export default defineConfig({
  // A file each: whoever uses a part of it, such as an adapter alone, is not given all schemas with it.
  entry: ['src/**/*.ts', '!src/**/*.test.ts'],
  bundle: false,
  format: 'esm',
  dts: false,
  clean: true,
  sourcemap: true,
  target: 'node20',
  platform: 'neutral',
})
