/** How every property is run: `FUZZ_RUNS` asks for more runs, `FUZZ_SEED` repeats those that were printed under it. */
export const parameters = {
  numRuns: Number(process.env['FUZZ_RUNS'] ?? 300),
  seed: Number(process.env['FUZZ_SEED'] ?? Math.floor(Math.random() * 2 ** 31)),
}

console.log(`FUZZ_SEED=${parameters.seed} FUZZ_RUNS=${parameters.numRuns}`)
