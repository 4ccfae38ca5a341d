import type { Commit, Entry, Identified, KV, User } from '@turnpike/core'
import { sha256, uuidv7 } from '@turnpike/core/helpers'
import { userEntry } from '@turnpike/core/internal'
import { randomText } from './base64url.js'
import type { Origin } from './origin.js'

const DAY_MS = 86_400_000

/** One sign-in of a user on one device, as stored under `sign-in/<id>` until it expires. */
export type SignIn = {
  id: string
  user_id: string
  /** The counter of the refresh token that was issued last. */
  counter: number
  /** When that was, in milliseconds. */
  refreshed_at: number
  /** Whether the access token that was issued with it was used, so that the answer has arrived. */
  arrived: boolean
  /** When it was used last, as far as it prolongs the sign-in. */
  used_at: number
  created_at: number
  /** SHA-256 of the value of its session cookie; absent = it has none. */
  cookie?: string
  /** How many times its tokens were ended, and it was not; absent = never. */
  generation?: number
  /** Where it was used last, as far as that prolonged it. Absent as in {@link Origin}. */
  last_address?: string
} & Origin &
  Partial<VouchedBy>

/** The sign-in provider that vouched for a user. */
export type VouchedBy = {
  provider: string
  /** What it wants to see again at the sign-out. */
  id_token?: string
}

/** What a use that prolongs a sign-in changes besides its times. */
type LastUse = Pick<SignIn, 'last_address'>

/** The user of a sign-in, by its cookie or one of its access tokens. */
export const identified = (via: 'bearer' | 'cookie', { id, user_id, cookie = '', generation = 0 }: SignIn) => ({
  userId: user_id,
  via,
  signInId: id,
  credentialId: via === 'cookie' ? cookie : String(generation),
})

/** Whether a caller's credential is still one of the sign-in: processes take it to be for a few seconds after another has replaced it. */
export const isOf = ({ via, credentialId }: Identified, signIn: SignIn): boolean =>
  (via === 'bearer' || via === 'cookie') && credentialId === identified(via, signIn).credentialId

const signInKey = (id: string) => ['sign-in', id]
const userSignIns = (userId: string) => ['user-sign-ins', userId]
const cookieKey = (hash: string) => ['session-cookie', hash]

/** How long sign-ins last, and how many there are. */
export interface SignInLimits {
  /** Days without use after which a sign-in ends; default 7. */
  idleDays: number
  /** Days after which it ends in any case; default 30. */
  absoluteDays: number
  /** Seconds for which the refresh token before the current one is answered with the current one in any case; default 10. */
  reuseS: number
  /** Sign-ins of a user at a time; default 20. */
  perUser: number
}

/** What a commit that begins or ends a sign-in writes into the audit log. */
type LogEntry = (signIn: SignIn) => Promise<NonNullable<Commit['set']>>

/** The keys of the entries of a sign-in. */
const entriesOfSignIn = ({ id, user_id, cookie }: SignIn): NonNullable<Commit['del']> => [
  signInKey(id),
  [...userSignIns(user_id), id],
  ...(cookie === undefined ? [] : [cookieKey(cookie)]),
]

/** A cookie of 256 random bits, and the hash that is stored of it. */
async function newCookie(): Promise<{ value: string; hash: string }> {
  const value = randomText(32)
  return { value, hash: await sha256(value) }
}

/** Creates, refreshes, finds and ends sign-ins. */
export function signIns(kv: KV, { idleDays, absoluteDays, reuseS, perUser }: SignInLimits, now: () => number) {
  /** When a sign-in expires if it is not used again. */
  const expiryOf = ({ created_at, used_at }: SignIn): number =>
    Math.min(created_at + absoluteDays * DAY_MS, used_at + idleDays * DAY_MS)

  /** The writes that store a sign-in. All its entries expire together. */
  const storing = (signIn: SignIn): NonNullable<Commit['set']> => {
    const { id, user_id, cookie } = signIn
    const expiresAt = expiryOf(signIn)
    return [
      { key: signInKey(id), value: signIn, expiresAt },
      { key: [...userSignIns(user_id), id], value: true, expiresAt },
      ...(cookie === undefined ? [] : [{ key: cookieKey(cookie), value: id, expiresAt }]),
    ]
  }

  const find = async (id: string): Promise<Entry<SignIn> | null> => {
    const entry = await kv.get<SignIn>(signInKey(id))
    // Stores drop expired entries by clocks of their own.
    return entry && expiryOf(entry.value) > now() ? entry : null
  }

  /** The ids of a user's sign-ins, oldest first. There are a few more than the limit at most. */
  const idsOf = async (userId: string): Promise<string[]> =>
    (await kv.list(userSignIns(userId), { limit: 500 })).items.map(({ key }) => key[2]!)

  const findAll = async (ids: string[]): Promise<Entry<SignIn>[]> =>
    (await kv.getMany<SignIn>(ids.map(signInKey))).filter((entry) => entry !== null)

  /** The commit that ends sign-ins, unless one has changed: what it leads to, such as its cookie, may be another. */
  const ending = (ended: Entry<SignIn>[]) => ({
    check: ended.map(({ key, version }) => ({ key, version })),
    del: ended.flatMap(({ value }) => entriesOfSignIn(value)),
  })

  /** Ends sign-ins, all in one commit. @param log what is written for each */
  const end = async (ended: SignIn[], log: LogEntry = async () => []): Promise<void> => {
    for (;;) {
      const entries = await findAll(ended.map(({ id }) => id))
      if (entries.length === 0) return
      const set = (await Promise.all(entries.map(({ value }) => log(value)))).flat()
      if (await kv.commit({ ...ending(entries), set })) return
    }
  }

  return {
    find,
    end,

    /** The sign-ins of a user, oldest first. */
    ofUser: async (userId: string): Promise<SignIn[]> => (await findAll(await idsOf(userId))).map(({ value }) => value),

    /**
     * Signs a user in, and ends the oldest sign-ins beyond the limit.
     * @param input.user the entry of the user
     * @param input.proof the entry that proved who it is, such as the password's
     * @param input.origin what made the sign-in, and where; default not known
     * @param input.vouched who vouched for the user; default nobody
     * @param input.log what is written with it; default nothing
     * @returns null if the user was deleted or the proof changed meanwhile; nothing is stored then
     */
    async create(input: {
      user: Entry<User>
      proof: Entry<unknown>
      withCookie: boolean
      origin?: Origin
      vouched?: VouchedBy
      log?: LogEntry
    }): Promise<{ signIn: SignIn; cookie?: string } | null> {
      const { proof, withCookie, origin, vouched, log = async () => [] } = input
      const userId = input.user.value.id
      let [user, proven]: [Entry<User> | null, Entry<unknown> | null] = [input.user, proof]
      for (;;) {
        if (!user || user.value.deleted_at !== null || proven?.version !== proof.version) return null
        const others = await idsOf(userId)
        const cookie = withCookie ? await newCookie() : undefined
        const time = now()
        const signIn: SignIn = {
          id: uuidv7(time),
          user_id: userId,
          counter: 0,
          refreshed_at: time,
          arrived: false,
          used_at: time,
          created_at: time,
          ...origin,
          ...vouched,
          ...(cookie && { cookie: cookie.hash }),
        }
        const tooMany = others.slice(0, Math.max(0, others.length - perUser + 1))
        const { check, del } = ending(tooMany.length > 0 ? await findAll(tooMany) : [])
        const created = await kv.commit({
          check: [...[user, proof].map(({ key, version }) => ({ key, version })), ...check],
          set: [...storing(signIn), ...(await log(signIn))],
          del,
        })
        if (created) return { signIn, ...(cookie && { cookie: cookie.value }) }
        ;[user, proven] = await Promise.all([userEntry(kv, userId), kv.get(proof.key)])
      }
    },

    /** The sign-in with this cookie; null where there is none. */
    async byCookie(value: string): Promise<SignIn | null> {
      const id = (await kv.get<string>(cookieKey(await sha256(value))))?.value
      return id === undefined ? null : ((await find(id))?.value ?? null)
    },

    /**
     * Counts a refresh with the token of `counter` (RFC 9700, 4.14.2). The token before the current one is answered with the
     * current one: for a short time, as several tabs refresh at once, and longer while nothing of the answer was used, as that may have been
     * lost. Any other use of an older token shows that two clients have it, and the sign-in ends.
     * @param log is asked where it ends so
     * @param used what is stored of where the token was used
     * @returns the sign-in with the counter of the new token; null if the sign-in has ended
     */
    async refresh(id: string, counter: number, log: LogEntry, used: LastUse = {}): Promise<SignIn | null> {
      for (;;) {
        const entry = await find(id)
        if (!entry || counter > entry.value.counter) return null
        const signIn = entry.value
        const time = now()
        if (counter < signIn.counter) {
          const isGood = !signIn.arrived || time - signIn.refreshed_at <= reuseS * 1_000
          if (counter === signIn.counter - 1 && isGood) return signIn
          const set = await log(signIn)
          if (await kv.commit({ ...ending([entry]), set })) return null
          continue
        }
        const next = { ...signIn, ...used, counter: counter + 1, refreshed_at: time, arrived: false, used_at: time }
        const check = [{ key: signInKey(id), version: entry.version }]
        if (await kv.commit({ check, set: storing(next) })) return next
      }
    },

    /** Notes that an access token was used which was issued with the refresh token of `counter`. */
    async arrived(signIn: Entry<SignIn>, counter: number): Promise<void> {
      for (let entry: Entry<SignIn> | null = signIn; entry; entry = await find(entry.value.id)) {
        const { value, key, version } = entry
        if (value.arrived || value.counter !== counter) return
        if (await kv.commit({ check: [{ key, version }], set: storing({ ...value, arrived: true }) })) return
      }
    },

    /** Prolongs a sign-in that is used by cookie; once an hour, so that reads seldom write. @returns whether it did */
    async prolong(signIn: SignIn, used: LastUse = {}): Promise<boolean> {
      if (now() - signIn.used_at < 3_600_000) return false
      const entry = await find(signIn.id)
      if (!entry) return false
      const next = { ...entry.value, ...used, used_at: now() }
      // Whoever was faster has prolonged it, or ended it.
      return kv.commit({ check: [{ key: signInKey(signIn.id), version: entry.version }], set: storing(next) })
    },

    /**
     * Gives a sign-in that has a cookie another one.
     * @param options.for whose credential must still be one of the sign-in; default anybody's
     * @param options.endsTokens whether its access tokens are not good any more; its refresh token is then an older one
     * @returns the new value; null if it has none
     */
    async renewCookie(
      id: string,
      { for: who, endsTokens = false }: { for?: Identified; endsTokens?: boolean },
    ): Promise<string | null> {
      for (;;) {
        const entry = await find(id)
        if (entry?.value.cookie === undefined || (who && !isOf(who, entry.value))) return null
        const { value, hash } = await newCookie()
        const { generation = 0, counter } = entry.value
        const ended = { generation: generation + 1, counter: counter + 1, refreshed_at: 0, arrived: true }
        const renewed = await kv.commit({
          check: [{ key: entry.key, version: entry.version }],
          set: storing({ ...entry.value, ...(endsTokens && ended), cookie: hash }),
          del: [cookieKey(entry.value.cookie)],
        })
        if (renewed) return value
      }
    },
  }
}
