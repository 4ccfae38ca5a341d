import type { Identified } from '@turnpike/core'
import { isUuid } from '@turnpike/core/helpers'
import { audit, unauthenticated } from '@turnpike/core/internal'
import type { Head } from '@turnpike/http'
import type { ListedSignIn, SessionIssuer } from './identity.js'
import type { signInLog } from './sign-in-log.js'
import type { SignIn, signIns } from './sign-ins.js'
import { isOf } from './sign-ins.js'

interface Options {
  store: ReturnType<typeof signIns>
  log: ReturnType<typeof signInLog>
  /** Forgets credentials that this process has verified. */
  revoke: (which: (who: Identified) => boolean) => void
  /** The `set-cookie` header that ends the session cookie. */
  endCookie: () => string
  now: () => number
}

const viewOf = (signIn: SignIn): ListedSignIn => ({
  id: signIn.id,
  user_agent: signIn.user_agent ?? null,
  address: signIn.address ?? null,
  last_address: signIn.last_address ?? signIn.address ?? null,
  created_at: new Date(signIn.created_at).toISOString(),
  last_used_at: new Date(signIn.used_at).toISOString(),
})

/** Lists the sign-ins of users, and ends them. */
export function listedSignIns({ store, log, revoke, endCookie, now }: Options) {
  const end = async (ended: SignIn[], logged?: Parameters<typeof store.end>[1]): Promise<void> => {
    await store.end(ended, logged)
    const ids = new Set(ended.map(({ id }) => id))
    revoke(({ signInId }) => signInId !== undefined && ids.has(signInId))
  }
  const signedOut = (head: Head) => (signIn: SignIn) => log.of('sign-out', signIn, head.ip())

  /** The sign-in of a caller. @throws ApiError 401 where there is none, or not any more, or where it has another cookie by now */
  const own = async (who: Identified): Promise<SignIn> => {
    const signIn = who.signInId === undefined ? undefined : (await store.find(who.signInId))?.value
    if (!signIn || !isOf(who, signIn)) throw unauthenticated()
    return signIn
  }

  const sessions: Pick<SessionIssuer, 'signIns' | 'signOut' | 'endSignIn' | 'signOutUser'> = {
    async signIns(userId) {
      const found = await store.ofUser(userId)
      return found.toSorted((a, b) => b.used_at - a.used_at).map(viewOf)
    },

    async signOut(who, scope, head) {
      const current = await own(who)
      const all = scope === 'local' ? [current] : await store.ofUser(who.userId)
      await end(scope === 'others' ? all.filter(({ id }) => id !== current.id) : all, signedOut(head))
      return scope !== 'others' && current.cookie !== undefined ? [endCookie()] : []
    },

    async endSignIn(who, id, head) {
      const signIn = isUuid(id) ? (await store.find(id))?.value : undefined
      if (signIn?.user_id !== who.userId) return null
      await end([signIn], signedOut(head))
      return id === who.signInId && signIn.cookie !== undefined ? [endCookie()] : []
    },

    async signOutUser(userId, { id, by } = {}) {
      const all = await store.ofUser(userId)
      const ended = id === undefined ? all : all.filter((signIn) => signIn.id === id)
      await end(ended, async (signIn) => audit('user.sign-out', userId, { by, now: now(), detail: signIn.id }))
      if (id === undefined) revoke((who) => who.userId === userId)
      return ended.length > 0
    },
  }
  return { own, end, sessions }
}
