import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    name: 'consumers',
    include: ['test/consumers/*.check.ts'],
    testTimeout: 600_000,
    hookTimeout: 300_000,
    maxConcurrency: 2,
    fileParallelism: false,
  },
})
