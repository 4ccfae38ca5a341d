import type { ChunkChoice, Memory } from '@turnpike/core'
import { extend, isObject, nextTurn } from '@turnpike/core/helpers'

/** Names of strings that are no text: they say what stands beside them, or are data. */
const noText = new Set(['role', 'type', 'id', 'name', 'format', 'url', 'data', 'b64_json'])

const isText = (field: string): boolean => !noText.has(field) && !field.endsWith('_id') && !field.endsWith('signature')

/**
 * A value, such as the messages of a request, with each text in it replaced, at any depth; itself where none changes. Roles, types, ids, names,
 * URLs, base64 and signatures are no texts. A signature beside a text that changes is left out, because it is no longer that of the text.
 * @param change receives the place of the text as well: entries of lists that have an `index`, as those of a stream, are named by it
 * @example const clean = { ...request, messages: mapTexts(request.messages, (text) => text.replaceAll(secret, '***')) }
 */
export function mapTexts<T>(value: T, change: (text: string, path: string) => string): T {
  return mapped(value, true, '', change) as T
}

/** @param isOfText whether a string here is a text, which the name of its field says */
function mapped(
  value: unknown,
  isOfText: boolean,
  path: string,
  change: (text: string, path: string) => string,
): unknown {
  if (typeof value === 'string') return isOfText ? change(value, path) : value
  if (Array.isArray(value)) {
    const items = value.map((item: unknown, position) => {
      const at = isObject(item) && typeof item['index'] === 'number' ? item['index'] : position
      return mapped(item, isOfText, `${path}[${at}]`, change)
    })
    return items.some((item, index) => item !== value[index]) ? items : value
  }
  if (!isObject(value)) return value
  let isChanged = false
  let isUnsigned = false
  const entries = Object.entries(value).map(([field, item]): [string, unknown] => {
    const now = mapped(item, isText(field), `${path}.${field}`, change)
    if (now !== item) {
      isChanged = true
      if (typeof item === 'string') isUnsigned = true
    }
    return [field, now]
  })
  if (!isChanged) return value
  return Object.fromEntries(isUnsigned ? entries.filter(([field]) => field !== 'signature') : entries)
}

/**
 * What a guard makes of a text.
 * @param sent what it made of the text's beginning, where that has been sent: @throws ApiError where it changes that
 */
export type Judge = (text: string, sent?: string) => Promise<string>

/** The texts of values by their place, each put together from all values that have it. */
function textsOf(values: unknown[]): Map<string, string> {
  const texts = new Map<string, string>()
  for (const value of values)
    mapTexts(value, (text, path) => {
      if (text !== '') texts.set(path, (texts.get(path) ?? '') + text)
      return text
    })
  return texts
}

/**
 * The first values of several that make up a message, with their texts as a guard leaves them. It is asked about each text with what follows of
 * it in the other values, and what went before, so that it finds what is split between them.
 * @param end how many values are the first
 * @param before the ends of texts that have been sent, by their place
 * @returns undefined where what the guard changes reaches from the first values into the others
 */
async function judged<T>(
  values: T[],
  end: number,
  judge: Judge,
  before: ReadonlyMap<string, string>,
): Promise<T[] | undefined> {
  const first = values.slice(0, end)
  const rests = textsOf(values.slice(end))
  const changes = new Map<string, string>()
  let asked = 0
  for (const [path, text] of textsOf(first)) {
    const sent = before.get(path) ?? ''
    const rest = rests.get(path) ?? ''
    // An upstream's answer may have millions: other requests have their turn.
    if (++asked % 1_000 === 0) await nextTurn()
    const head = sent === '' ? '' : await judge(sent)
    const whole = sent + text + rest
    const now = await judge(whole, head)
    if (now === whole) continue
    const tail = rest === '' ? '' : await judge(rest)
    if (!now.endsWith(tail) || now.length < head.length + tail.length) return undefined
    changes.set(path, now.slice(head.length, now.length - tail.length))
  }
  if (changes.size === 0) return first
  return first.map((value) =>
    mapTexts(value, (text, path) => {
      const now = changes.get(path)
      if (now === undefined || text === '') return text
      // The first place has all of it.
      changes.set(path, '')
      return now
    }),
  )
}

/** Most characters of the place of a text; the longest that an answer has is about 50. The names in it are the upstream's, and each text below has them in its place. */
const LONGEST_PLACE = 200

/** Most texts of an answer or a chunk: as many as an event has values. */
const MOST_TEXTS = 50_000

/** What a place takes besides its characters, in characters. */
const PLACE = 50

/** A value without the texts that no answer has, by their places and their number; the characters of its longest text and of its places, and whether a word begins with it. */
function measured<T>(value: T): { value: T; length: number; places: number; beginsWord: boolean } {
  let [text, length, places, texts] = ['', 0, 0, 0]
  const kept = mapTexts(value, (more, path) => {
    if (path.length > LONGEST_PLACE || ++texts > MOST_TEXTS) return ''
    text += more
    length = Math.max(length, more.length)
    places += path.length + PLACE
    return more
  })
  return { value: kept, length, places, beginsWord: /^\s/.test(text) }
}

/** A whole answer, or a part of it, as a guard leaves it. @throws ApiError 503 where there is no memory for the places of its texts */
export async function judgedWhole<T>(given: T, judge: Judge, memory: Memory): Promise<T> {
  const { value, places } = measured(given)
  memory.take(2 * places)
  return (await judged([value], 1, judge, new Map()))![0]!
}

/** Bytes that a chunk takes while it waits, besides its characters, of which each takes two. */
const CHUNK_BYTES = 500

/** A chunk that waits: the characters of its longest text, those of its JSON and of its places, and whether a word begins with it. */
interface Held {
  choice: ChunkChoice
  length: number
  size: number
  beginsWord: boolean
}

function held(choice: ChunkChoice): Held {
  const { value: delta, places, ...rest } = measured(choice.delta)
  const size = JSON.stringify(delta).length + places
  return { choice: delta === choice.delta ? choice : extend(choice, { delta }), size, ...rest }
}

/**
 * The chunks of one choice of a stream on their way through a guard. Each waits until at least so many characters have followed it, so that the
 * guard has seen them together. The guard is asked once for as many new characters, so that it reads each about twice, whatever the size of
 * the chunks; where what it changes reaches over the end of what could go on, when there is twice as much.
 *
 * A text that others follow goes on with them, so that the order stays and nothing waits for the end of the answer. Should more of it come after all,
 * the guard sees that with the end of what was sent.
 */
export class LookBack {
  #held: Held[] = []
  #length = 0
  /** The ends of texts that were sent before as much had followed of the text itself. */
  readonly #sent = new Map<string, string>()
  /** Characters that are kept. */
  #size = 0
  #due: number
  #taken = 0

  /** @param characters Infinity = the guard sees each text once, whole */
  constructor(
    private readonly characters: number,
    private readonly judge: Judge,
    private readonly memory: Memory,
  ) {
    this.#due = characters
  }

  /** Adds a chunk. @returns the chunks that need not wait any longer; all after the last */
  async push(choice: ChunkChoice): Promise<ChunkChoice[]> {
    const one = held(choice)
    this.#held.push(one)
    this.#length += one.length
    this.#size += one.size
    const bytes = 2 * this.#size + CHUNK_BYTES * (this.#held.length + this.#sent.size)
    if (bytes > this.#taken) this.memory.take(bytes - this.#taken)
    this.#taken = Math.max(this.#taken, bytes)
    if (this.#length === 0 || choice.finish_reason !== null) return this.#release(this.#held.length)
    if (this.#length < this.#due) return []
    const end = this.#end()
    const length = this.#length
    const released = end > 0 ? await this.#release(end) : []
    const isStuck = end > 0 && this.#length === length
    this.#due = isStuck ? 2 * length : this.#length + this.characters
    return released
  }

  /** How many chunks are followed by enough characters; fewer where a word begins there, of which a pattern should not see the rest alone. */
  #end(): number {
    let end = this.#held.length
    for (let after = 0; end > 0 && after < this.characters;) after += this.#held[--end]!.length
    for (let at = end; at > 0; at--) if (this.#held[at]!.beginsWord) return at
    return end
  }

  /** Keeps the end of each text that was sent and may go on. */
  #remember(sent: ChunkChoice[]): void {
    const rests = textsOf(this.#held.map(({ choice }) => choice.delta))
    for (const [path, text] of textsOf(sent.map(({ delta }) => delta))) {
      const before = this.#sent.get(path) ?? ''
      const isSeen = (rests.get(path)?.length ?? 0) >= this.characters
      const kept = isSeen ? '' : (before + text).slice(-this.characters)
      this.#size += kept.length - before.length
      if (kept === '') this.#sent.delete(path)
      else this.#sent.set(path, kept)
    }
  }

  async #release(end: number): Promise<ChunkChoice[]> {
    const choices = this.#held.map(({ choice }) => choice)
    const deltas = await judged(
      choices.map(({ delta }) => delta),
      end,
      this.judge,
      this.#sent,
    )
    if (!deltas) return []
    for (const { length, size } of this.#held.splice(0, end)) {
      this.#length -= length
      this.#size -= size
    }
    this.#remember(choices.slice(0, end))
    return deltas.flatMap((delta, at) => {
      const choice = choices[at]!
      if (delta === choice.delta) return [choice]
      // What an earlier chunk has instead leaves nothing here.
      const isEmpty = choice.finish_reason === null && Object.values(delta).every((text) => text === '')
      return isEmpty ? [] : [extend(choice, { delta })]
    })
  }
}
