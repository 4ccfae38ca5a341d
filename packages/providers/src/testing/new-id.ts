import { randomText } from '../chunk-builder.js'

/** An id that no other answer has. */
export const newId = (prefix: string): string => `${prefix}simulated${randomText()}`
