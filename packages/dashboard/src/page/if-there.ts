import type { PlatformError } from '@turnpike/client'
import { read } from './api.js'

/** Reads what only a gateway with a configuration has (`turnpike`); undefined where it is another one. */
export const readIfThere = <T>(path: string, signal?: AbortSignal): Promise<T | undefined> =>
  read<T>(path, signal).catch((error: PlatformError) => {
    if (error.status === 404) return undefined
    throw error
  })
