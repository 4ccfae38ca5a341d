import type { KV, User } from '@turnpike/core'
import { audit, emailId, invalid } from '@turnpike/core/internal'
import type { Head } from '@turnpike/http'
import { forbidden } from '../errors.js'
import type { Logged } from '../own-log.js'
import type { signInAttempts } from './attempts.js'
import type { signInLog } from './sign-in-log.js'
import type { storedPasswords } from './stored-passwords.js'
import type { throttle } from './throttle.js'

interface PasswordCheckOptions {
  kv: KV
  passwords: ReturnType<typeof storedPasswords>
  attempts: ReturnType<typeof signInAttempts>
  blocks: ReturnType<typeof throttle>
  log: ReturnType<typeof signInLog>
  logged: Logged
  now: () => number
}

/** Checks passwords that people send. Failures are logged, and those who fail often are refused, whatever the password was sent for. */
export function passwordChecks({ kv, passwords, attempts, blocks, log, logged, now }: PasswordCheckOptions) {
  /** @returns null for an unknown e-mail or a wrong password. @throws ApiError 429 after several failures, 503 where the queue has no place */
  const verify = async (email: string, password: string, head: Head) => {
    const name = emailId(email)
    const { sources, subjects } = await attempts.of(name, head)
    const verified = await passwords.verify({
      email,
      password,
      sources,
      check: () => blocks.check(subjects),
      async failed(userId) {
        await log.failed(name, userId, head.ip())
        await blocks.failed(subjects)
      },
    })
    return verified && { ...verified, sources }
  }

  return {
    verify,

    /**
     * Replaces the password of a user who knows it.
     * @throws ApiError 403 where `current` is not the password, 400 for a new one as for a new user or where it is the same, 429 and 503 as above
     */
    async change(
      user: User & { email: string },
      { current, password }: { current: string; password: string },
      head: Head,
    ): Promise<void> {
      const { id } = user
      if (password === current) throw invalid('The new password is the current one')
      const verified = await verify(user.email, current, head)
      if (!verified) throw forbidden('The current password is wrong')
      const entry = await passwords.entry(id, password, { of: user, sources: verified.sources })
      const { key, version } = verified.proof
      const isSet = await logged('user.password', id, (by) =>
        kv.commit({ check: [{ key, version }], set: [entry, ...audit('user.password', id, { by, now: now() })] }),
      )
      if (!isSet) throw forbidden('The password was changed meanwhile')
    },
  }
}
