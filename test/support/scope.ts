/** Whether everything runs (`npm run test:all`); `npm test` runs a sample of what is tried in many ways. */
export const thorough = process.env['TEST_ALL'] === 'true'

/** All of `ways` in `npm run test:all`, otherwise the first `count`. */
export const sample = <T>(ways: readonly T[], count = 1): readonly T[] => (thorough ? ways : ways.slice(0, count))

/** How often what is random is tried: `few` times, `many` in `npm run test:all`; `FUZZ_RUNS` overrides both. */
export const runs = (few: number, many: number): number => Number(process.env['FUZZ_RUNS'] ?? (thorough ? many : few))
