import { runs } from '../support/scope.js'

/** How every property is run: `FUZZ_RUNS` says how often, `FUZZ_SEED` repeats the runs that were printed under it. */
export const parameters = {
  numRuns: runs(100, 1_000),
  seed: Number(process.env['FUZZ_SEED'] ?? Math.floor(Math.random() * 2 ** 31)),
}

console.log(`FUZZ_SEED=${parameters.seed} FUZZ_RUNS=${parameters.numRuns}`)
