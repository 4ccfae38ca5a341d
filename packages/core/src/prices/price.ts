/** What adds up to the tokens of a prompt. */
export const promptClasses = [
  /** Those that none of the classes below counts. */
  'input',
  'input_audio',
  'input_image',
  'cache_read',
  /** Written to a cache that lasts minutes. */
  'cache_write',
  /** Written to a cache that lasts an hour. */
  'cache_write_1h',
] as const

/** What adds up to the tokens of a completion. */
export const completionClasses = [
  /** Those that none of the classes below counts. */
  'output',
  'reasoning',
  'output_audio',
  'output_image',
] as const

/** What is counted otherwise than in tokens. */
export const measureClasses = [
  /** Of a text that is spoken. */
  'characters',
  /** Of audio that is transcribed. */
  'seconds',
  /** Pictures that were made. */
  'images',
] as const

/** What a request can be billed for. The classes are disjoint: a token that was read from the cache is no `input` as well. */
export const unitClasses = [...promptClasses, ...completionClasses, ...measureClasses] as const
/** A class of billed units, such as `input` tokens or `seconds`. */
export type UnitClass = (typeof unitClasses)[number]

/** How much of each class a request used; absent = none. */
export type Units = Partial<Record<UnitClass, number>>

/** US dollars for a million units of each class. */
export type Rates = Partial<Record<UnitClass, number>>

/** What a model costs. */
export interface Price extends Rates {
  /** Rates that hold for a whole request whose prompt has more than `above` tokens, cached ones included. */
  tiers?: (Rates & { above: number })[]
}

/** Where prices are from. */
export interface Origin {
  /** Such as `built-in`, the name of a file, or the address of a public table. */
  source: string
  /** The day or the time since which they hold, as ISO 8601 writes it. */
  since: string
}

/** The prices of one moment. */
export interface PriceTable {
  /** Hash of everything in the table. */
  readonly version: string
  /** Where it is from; where it lies over another, the upper one's. */
  readonly origin: Origin
  /** Undefined where the price of the provider's model is not known. */
  price(provider: string, model: string): Price | undefined
  /** Where that price is from; undefined where it is not known. */
  originOf(provider: string, model: string): Origin | undefined
}

/** Where prices come from; asked for each request, so that a request is charged what was in force when it was made. */
export interface PriceSource {
  table(): PriceTable
}
