import type { Rates, UsageRecord } from '@turnpike/core'

// Whatever is calculated in this folder is calculated by hand, from the numbers of a recording.

/** Primes, so that no class can be charged as another: thousands of them are nano-dollars for a unit. */
export const primes: Rates = {
  input: 2.003,
  input_audio: 3.001,
  input_image: 4.001,
  cache_read: 0.211,
  cache_write: 2.503,
  cache_write_1h: 5.003,
  output: 10.007,
  reasoning: 7.001,
  output_audio: 8.009,
  output_image: 9.001,
  seconds: 100.003,
  images: 40_009,
}

/** What the ledger says of a recording. */
export interface Bill {
  prompt: number
  completion: number
  units: UsageRecord['units']
  /** Nano-dollars at {@link primes}. */
  nano: number
  /** Default `reported`. */
  accuracy?: UsageRecord['accuracy']
}

/**
 * Recordings whose usage is another, in the vendor's own fields: nearly all classes of what was recorded are zero, behind which a field
 * that is not read would hide.
 */
export interface Refilled {
  of: string[]
  usage: Record<string, unknown>
  bill: Bill
}

/** What a recording costs at the vendor's list price, in nano-dollars; null where the catalogue has no price. */
export type Listed = [recording: string, model: string, nano: number | null]

/** A bill of nothing but text in and out. */
export const text = (input: number, output: number): Bill => ({
  prompt: input,
  completion: output,
  units: { input, output },
  nano: input * 2_003 + output * 10_007,
})

/** A bill of text in and out with thoughts in between, which are completion as well. */
export const thought = (input: number, output: number, reasoning: number): Bill => ({
  prompt: input,
  completion: output + reasoning,
  units: { input, output, reasoning },
  nano: input * 2_003 + output * 10_007 + reasoning * 7_001,
})
