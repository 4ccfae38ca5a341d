import { readdirSync } from 'node:fs'
import { defaultServerConditions } from 'vite'
import { defineConfig } from 'vitest/config'

// Unit tests and types read the sources; only `e2e` needs a build.
// Node does not know `module`, and what it leads to in @opentelemetry/api is for bundlers only.
const conditions = ['@turnpike/source', ...defaultServerConditions.filter((condition) => condition !== 'module')]
const units = readdirSync('packages').map((name) => ({
  extends: true as const,
  test: { name, root: `packages/${name}`, include: ['src/**/*.test.ts'] },
}))

export default defineConfig({
  resolve: { conditions },
  ssr: { resolve: { conditions } },
  test: {
    projects: [
      ...units,
      {
        extends: true,
        test: {
          name: 'e2e',
          root: 'test',
          include: ['**/*.test.ts'],
          testTimeout: 30_000,
          hookTimeout: 60_000,
          fileParallelism: false,
        },
      },
    ],
  },
})
