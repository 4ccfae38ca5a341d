import type { Model, Provider } from '@turnpike/core'

/** Milliseconds after which a list is asked for again when it is needed. */
const FRESH_MS = 60_000
/** Milliseconds after which an upstream that does not answer has failed, and one that has failed is asked again: so there is one call at a time. */
const TIMEOUT_MS = 10_000
/** Milliseconds for which requests wait for the first lists. */
const WAIT_MS = 1_000

/** The list of one instance of a provider. */
interface Listing {
  provider: Provider
  /** What it listed last; undefined until it has. */
  models: Model[] | undefined
  /** When it may be asked again. */
  next: number
}

/** What the providers list. It does not change: what comes later is another one. */
export interface Lists {
  /** In the order of the providers; a model that several instances of a provider have is there once. */
  models: Model[]
  /** The ids of the providers whose lists are not known. */
  unlisted: ReadonlySet<string>
}

/**
 * The lists of models of all providers. They are asked for when they are needed, and again after a minute, without anybody waiting; while an
 * upstream is down, its last list stays in force. Nothing but time is shared between requests, since on Workers a call ends with the
 * request that began it.
 */
export class Listings {
  readonly #byId: [id: string, instances: Listing[]][]
  readonly #all: Listing[]
  readonly #now: () => number
  /** The earliest `next`. */
  #next = -Infinity
  #lists: Lists | undefined
  /** The first calls. */
  #first: Promise<unknown> | undefined
  /** Whether they have ended, or have been waited for. */
  #isReady = false

  /** @param before has the lists of the providers that it has as well */
  constructor(byId: ReadonlyMap<string, Provider[]>, now: () => number, before?: Listings) {
    this.#now = now
    const known = new Map((before ? before.#all : []).map((listing) => [listing.provider, listing]))
    this.#byId = [...byId].map(([id, instances]) => [
      id,
      instances.map((provider) => ({ models: undefined, next: -Infinity, ...known.get(provider), provider })),
    ])
    this.#all = this.#byId.flatMap(([, instances]) => instances)
    this.#next = Math.min(...this.#all.map(({ next }) => next))
    this.#isReady = before !== undefined && before.#isReady && this.#all.every(({ provider }) => known.has(provider))
  }

  async #ask(listing: Listing): Promise<void> {
    try {
      const models = await listing.provider.models({ signal: AbortSignal.timeout(TIMEOUT_MS) })
      if (models !== listing.models) this.#lists = undefined
      listing.models = models
      this.#delay(listing, FRESH_MS)
    } catch {
      // `GET /admin/providers` and the test of a provider tell why.
    }
  }

  #delay(listing: Listing, ms: number): void {
    listing.next = this.#now() + ms
    this.#next = Math.min(...this.#all.map(({ next }) => next))
  }

  /** Asks for the lists that are due. */
  #refresh(): Promise<unknown> | undefined {
    const now = this.#now()
    if (now < this.#next) return undefined
    const due = this.#all.filter(({ next }) => next <= now)
    for (const listing of due) this.#delay(listing, TIMEOUT_MS)
    return Promise.all(due.map((listing) => this.#ask(listing)))
  }

  #join(): Lists {
    const found = this.#byId.map(([id, instances]) => {
      const listed = instances.flatMap(({ models = [] }) => models)
      return { id, models: [...new Map(listed.map((model) => [model.id, model])).values()], instances }
    })
    const isUnlisted = ({ instances }: { instances: Listing[] }) => instances.every(({ models }) => !models)
    return {
      models: found.flatMap(({ models }) => models),
      unlisted: new Set(found.filter(isUnlisted).map(({ id }) => id)),
    }
  }

  /** What is known now; undefined while the first lists are worth waiting for. */
  known(): Lists | undefined {
    if (!this.#isReady) return undefined
    void this.#refresh()
    return (this.#lists ??= this.#join())
  }

  /** What is known, after a second at most. */
  async read(): Promise<Lists> {
    if (!this.#isReady) {
      this.#first ??= this.#refresh()
      let timer: ReturnType<typeof setTimeout>
      const waited = new Promise((resolve) => (timer = setTimeout(resolve, WAIT_MS)))
      await Promise.race([this.#first, waited]).finally(() => clearTimeout(timer))
      this.#isReady = true
    }
    return this.known()!
  }
}
