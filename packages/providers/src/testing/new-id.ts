import { randomText } from '../chunk-builder.js'

/** Creates a unique id. */
export const newId = (prefix: string): string => `${prefix}simulated${randomText()}`
