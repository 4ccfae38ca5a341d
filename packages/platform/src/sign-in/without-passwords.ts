import { forbidden } from '../errors.js'
import type { PlatformRoute } from '../operation.js'

/** What is about passwords, or needs a new one. */
const OF_PASSWORDS = new Set([
  'auth.signIn',
  'auth.forgotten',
  'auth.signUp',
  'auth.useLink',
  'account.setPassword',
  'users.setPassword',
  'users.sendPasswordLink',
])

/** Routes of a platform where nobody signs in by password: those of passwords are 403. */
export const withoutPasswords = (routes: PlatformRoute[]): PlatformRoute[] =>
  routes.map((one) =>
    OF_PASSWORDS.has(one.operation.id)
      ? {
          ...one,
          operation: {
            ...one.operation,
            run() {
              throw forbidden('Nobody signs in by password here')
            },
          },
        }
      : one,
  )
