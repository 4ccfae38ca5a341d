import { fileURLToPath } from 'node:url'
import { defaultServerConditions } from 'vite'
import { configDefaults, defineConfig } from 'vitest/config'

// Unit tests and types read the sources; only `e2e` needs a build.
// Node does not know `module`, and what it leads to in @opentelemetry/api is for bundlers only.
const conditions = ['@turnpike/source', ...defaultServerConditions.filter((condition) => condition !== 'module')]
const contractHooks = fileURLToPath(new URL('test/support/contract-hooks.ts', import.meta.url))
/**
 * Tests beside the sources of all packages, which share what they import. Those of agents hold tasks by short leases, which a worker with a large heap
 * may miss; those of the gateway also hold its answers against the document.
 */
const units = (name: string, include: string[], more: { exclude?: string[]; setupFiles?: string[] }) => ({
  extends: true as const,
  test: { name, root: 'packages', include, ...more },
})

/** What takes long in a browser. */
const pages = ['pages/**/*.test.ts']
/** What takes long: servers, several processes, kills, floods, the time of others. */
const long = [
  '{admin,agent,client,conformance,deployment,embed,faults,fuzz,ledger,security,server,storage}/**/*.test.ts',
  'platform/{api-rate,bodies,browser-page,data-space,erasure,file-kill,forgotten-passwords,large-lists}.test.ts',
  'platform/{limits-processes,long-texts,processes,project-races,removed-callers,running-replies}.test.ts',
  'platform/{sign-in-floods,sign-in-processes,stored-scripts,unread-answers}.test.ts',
  '{clients/agent-day,images/images,limits/{deployments,failures,processes},openapi/snippets}.test.ts',
  'router/{simulation,sticky}.test.ts',
  '{docs-agents,docs-moving,growth,swap-storage,uploads}.test.ts',
]
/** Tests across packages: `e2e` is what `npm test` runs of them; `npm run test:all` runs `long` and `long-pages`, too. */
const across = (name: string, include: string[], exclude: string[] = []) => ({
  extends: true as const,
  test: {
    name,
    root: 'test',
    include,
    exclude: [...configDefaults.exclude, ...exclude],
    setupFiles: [contractHooks],
  },
})

export default defineConfig({
  resolve: { conditions },
  ssr: { resolve: { conditions } },
  test: {
    // Long enough for a machine that is busy: a time-out is for what hangs. What takes time is waited for with `expect.poll`, by these.
    testTimeout: 60_000,
    hookTimeout: 120_000,
    expect: { poll: { timeout: 30_000, interval: 10 } },
    // Files share their worker, so that what they import is loaded once; each ends what it starts.
    isolate: false,
    maxWorkers: 2,
    reporters: ['default', './test/support/skipped-tests.ts'],
    projects: [
      units('units', ['*/src/**/*.test.ts'], { exclude: [...configDefaults.exclude, 'agent/**', 'gateway/**'] }),
      units('agent', ['agent/src/**/*.test.ts'], {}),
      units('gateway', ['gateway/src/**/*.test.ts'], { setupFiles: [contractHooks] }),
      across('e2e', ['**/*.test.ts'], [...long, ...pages]),
      across('long', long),
      across('long-pages', pages),
    ],
  },
})
