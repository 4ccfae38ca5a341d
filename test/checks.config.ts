import { defineConfig } from 'vitest/config'

// What is checked once, on packed packages, and not on each version of Node: test/packages and test/consumers.
export default defineConfig({
  test: {
    name: 'checks',
    include: ['test/*/*.check.ts'],
    testTimeout: 600_000,
    hookTimeout: 300_000,
    maxConcurrency: 2,
    maxWorkers: 2,
  },
})
