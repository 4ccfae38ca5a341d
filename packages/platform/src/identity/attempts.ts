import type { Commit, KV } from '@turnpike/core'
import { addressOf, sha256 } from '@turnpike/core/helpers'
import { userIdOf } from '@turnpike/core/internal'
import type { Head } from '@turnpike/http'
import type { CryptoKey } from 'jose'
import {
  ADDRESS_DAYS,
  DEVICE_COOKIE,
  DEVICE_DAYS,
  DEVICE_EMAILS,
  FAILURES_PER_ADDRESS,
  FAILURES_PER_DEVICE,
  FAILURES_PER_EMAIL,
  KNOWN_ADDRESSES,
  KNOWN_PLACES,
  LEAST_LOAD,
  NO_ADDRESS_PLACES,
  PLAIN_DEVICE_COOKIE,
} from '../conventions.js'
import { deviceTokens, isDeviceToken } from './device-tokens.js'
import type { Source } from './fair-queue.js'
import { hostCookie } from './host-cookie.js'
import { neighbourhoodOf, networksOf } from './networks.js'
import type { StoredPassword } from './stored-passwords.js'
import { passwordKey } from './stored-passwords.js'
import type { Subject } from './throttle.js'

const DAY_MS = 86_400_000

/** An attempt to sign in: whose places it takes, and what its failures are counted for. */
export interface Attempt {
  sources: Source[]
  subjects: Subject[]
}

interface AttemptOptions {
  kv: KV
  masters: () => Promise<CryptoKey[]>
  /** Failures a minute. */
  failures: { perEmail?: number; perDevice?: number; perAddress?: number }
  baseUrl: string | undefined
  now: () => number
}

/**
 * Tells attempts of devices and addresses that signed in before from others. A device has a count and places of its own, so that it signs
 * in whatever others do; an address that is known has more places.
 */
export function signInAttempts({ kv, masters, failures, baseUrl, now }: AttemptOptions) {
  const { perEmail = FAILURES_PER_EMAIL, perDevice = FAILURES_PER_DEVICE } = failures
  const { perAddress = FAILURES_PER_ADDRESS } = failures
  const tokens = deviceTokens(masters, now)
  const cookie = hostCookie({ host: DEVICE_COOKIE, plain: PLAIN_DEVICE_COOKIE }, baseUrl, DEVICE_DAYS)
  const tokensOf = (head: Head): string[] => cookie.of(head).split('.').slice(0, DEVICE_EMAILS).filter(isDeviceToken)
  /** Where it is noted that somebody has signed in at an address, and in its neighbourhood. */
  const knownKeys = (head: Head): Promise<string[][]> =>
    Promise.all(
      [addressOf(head.ip()), neighbourhoodOf(head.ip())].map(async (name) => ['known-address', await sha256(name)]),
    )

  /**
   * The parts of a commit by which a user makes an address known; undefined where they have made enough today: anybody who has a password could make as
   * many known as they have, and then come before all who are not.
   */
  const counted = async (email: string): Promise<Required<Pick<Commit, 'check' | 'set'>> | undefined> => {
    const key = ['known-by', await sha256(email), new Date(now()).toISOString().slice(0, 10)]
    const { value = 0, version = null } = (await kv.get<number>(key)) ?? {}
    if (value >= KNOWN_ADDRESSES) return undefined
    return { check: [{ key, version }], set: [{ key, value: value + 1, expiresAt: now() + DAY_MS }] }
  }

  /**
   * An e-mail and when its password was set: who knew an earlier one has as many tokens of devices as they made sign-ins, each with failures of its own,
   * which are good for no guess of another.
   */
  const holderOf = async (email: string): Promise<string> => {
    // Read for an unknown e-mail as well, so that it takes as long.
    const id = (await userIdOf(kv, email)) ?? 'unknown'
    const setAt = (await kv.get<StoredPassword>(passwordKey(id)))?.value.set_at
    return setAt ? `${email} ${setAt}` : email
  }

  return {
    /** @param email in its one spelling */
    async of(email: string, head: Head): Promise<Attempt> {
      const given = tokensOf(head)
      const holder = given.length > 0 ? await holderOf(email) : ''
      for (const token of given)
        if (await tokens.isOf(holder, token))
          return {
            subjects: [{ name: `device ${token}`, perMinute: perDevice }],
            sources: [{ name: `device of ${email}`, places: KNOWN_PLACES }],
          }
      const ofEmail = { name: `sign-in ${email}`, perMinute: perEmail }
      // Where the host tells no address, all share one, whose failures are not counted, as anybody could use them up. Known devices come before it.
      if (head.ip() === '')
        return {
          subjects: [ofEmail],
          sources: [{ name: 'no address', places: NO_ADDRESS_PLACES, least: LEAST_LOAD.unknown }],
        }
      const networks = networksOf(head.ip())
      const [address, neighbour] = await kv.getMany(await knownKeys(head))
      const narrowest = networks[0]!.places
      const least = neighbour ? LEAST_LOAD.neighbour : LEAST_LOAD.unknown
      return {
        subjects: [
          { ...ofEmail, by: networks.at(-1)!.name },
          ...networks.flatMap(({ name, failures: times }) =>
            times === undefined ? [] : [{ name: `sign-in from ${name}`, perMinute: times * perAddress }],
          ),
        ],
        sources: address
          ? networks.map(({ name, places }) => ({ name: `known ${name}`, places: (places * KNOWN_PLACES) / narrowest }))
          : networks.map(({ name, places }) => ({ name, places, least })),
      }
    },

    /** Makes the device and the address of a sign-in known. @returns the cookie to set */
    async succeeded(email: string, head: Head): Promise<string> {
      const keys = await knownKeys(head)
      const known = await kv.getMany(keys)
      const expiresAt = now() + ADDRESS_DAYS * DAY_MS
      // Once a day, so that sign-ins seldom write them.
      const old = keys.filter((_, i) => (known[i]?.expiresAt ?? 0) < expiresAt - DAY_MS)
      const count = old.length > 0 ? await counted(email) : undefined
      // Where another sign-in is counted meanwhile, the next one makes it known.
      if (count)
        await kv.commit({ ...count, set: [...count.set, ...old.map((key) => ({ key, value: true, expiresAt }))] })
      const holder = await holderOf(email)
      const others: string[] = []
      for (const token of tokensOf(head)) if (!(await tokens.isOf(holder, token))) others.push(token)
      return cookie.set([await tokens.make(holder), ...others].slice(0, DEVICE_EMAILS).join('.'))
    },
  }
}
