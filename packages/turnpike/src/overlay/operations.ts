/** What the routes of the overlay share. @module */
import type { Probe } from '@turnpike/core'
import { ApiError } from '@turnpike/core'
import { invalid } from '@turnpike/core/internal'
import type { Sealing } from '@turnpike/platform'
import * as v from 'valibot'
import type { ProviderSource } from '../config/check.js'
import type { ProviderSettings } from '../config/providers.js'
import type { Config } from '../config/schema.js'
import type { Tree } from '../config/tree.js'
import type { ReadOverlay } from './read.js'
import type { Decide } from './store.js'
import { NAME_LENGTH } from './store.js'

/** The configuration and its overlay that are in force, and how to change the latter. */
export interface Administered {
  config: Config
  source: ProviderSource
  read: ReadOverlay
  sealing: Sealing
  /** @returns what is in force then. @throws ApiError 400 where it cannot be used */
  change(decide: Decide): Promise<ReadOverlay>
  /** Asks a provider that is not in force. */
  probe(settings: ProviderSettings): Promise<{ id: string; probe: Probe }>
}

/** The name of a group or a model in a path. */
export const Name = v.pipe(v.string(), v.maxLength(NAME_LENGTH), v.regex(/^[^\s\p{Cc}]+$/u, 'must be without spaces'))

export const notFound = (what: string): ApiError =>
  new ApiError(404, 'not_found_error', `There is no ${what} of this name in the store`, { code: 'not_found' })

/** What `make` returns. @throws ApiError 400 with what is wrong with what was given */
export async function orInvalid<T>(make: () => T | Promise<T>): Promise<T> {
  try {
    return await make()
  } catch (error) {
    throw invalid((error as Error).message, { cause: error })
  }
}

/** A value without its fields that are null. */
export const withoutNull = (value: object): Tree =>
  Object.fromEntries(Object.entries(value).filter(([, field]) => field !== null))
