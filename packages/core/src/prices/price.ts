import type { Capability } from '../schemas/models.js'

/** The unit classes that add up to the tokens of a prompt. */
export const promptClasses = [
  /** Prompt tokens that are in no class below. */
  'input',
  'input_audio',
  'input_image',
  'cache_read',
  /** Written to a cache that lasts for minutes. */
  'cache_write',
  /** Written to a cache that lasts for an hour. */
  'cache_write_1h',
] as const

/** The unit classes that add up to the tokens of a completion. */
export const completionClasses = [
  /** Completion tokens that are in no class below. */
  'output',
  'reasoning',
  'output_audio',
  'output_image',
] as const

/** The unit classes that are not tokens. */
export const measureClasses = [
  /** Characters of the input of speech. */
  'characters',
  /** Seconds of transcribed audio. */
  'seconds',
  /** Generated images. */
  'images',
] as const

/** All unit classes that a request can be billed for. They are disjoint: a token read from the cache is not also `input`. */
export const unitClasses = [...promptClasses, ...completionClasses, ...measureClasses] as const
/** A class of billed units, such as `input` tokens or `seconds`. */
export type UnitClass = (typeof unitClasses)[number]

/** The units of each class that a request used; absent = none. */
export type Units = Partial<Record<UnitClass, number>>

/** US dollars per million units of each class. */
export type Rates = Partial<Record<UnitClass, number>>

/** The price of a model. */
export interface Price extends Rates {
  /** Rates for all units of a request whose prompt has more than `above` tokens, including cached ones. */
  tiers?: (Rates & { above: number })[]
}

/** A row of a price table. */
export interface PriceRow extends Price {
  /** The prices of the service tiers that differ, by name, such as `flex`. Classes without a rate there have the row's own. */
  service_tiers?: Record<string, Price>
}

/** The origin of prices. */
export interface Origin {
  /** Such as `built-in`, the name of a file, or the address of a public table. */
  source: string
  /** The date or time since when they are in force, in ISO 8601. */
  since: string
}

/** What a public table tells of a model besides its price. */
export interface ListedModel {
  /** Maximum tokens of prompt and answer together; undefined if unknown. */
  context: number | undefined
  /** Maximum tokens of an answer; undefined if unknown or not applicable. */
  maxOutput: number | undefined
  /** What it can do; empty if nothing that this gateway offers. */
  capabilities: Capability[]
  /** When it was released, in seconds since 1970; 0 if unknown. */
  created: number
}

/** An immutable set of prices. */
export interface PriceTable {
  /** Hash of everything in the table. */
  readonly version: string
  /** The origin of the table; for combined tables, that of the upper one. */
  readonly origin: Origin
  /** What it tells of models, also of those without a price, by `provider/model`; absent = nothing. */
  readonly models?: Readonly<Record<string, ListedModel>>
  /** The price of a provider's model, or that of one of its service tiers; undefined if unknown. */
  price(provider: string, model: string, serviceTier?: string): Price | undefined
  /** The origin of that price; undefined if the price is unknown. */
  originOf(provider: string, model: string): Origin | undefined
}

/** A source of prices. It is read for each request, so that a request is charged the prices in force when it was made. */
export interface PriceSource {
  table(): PriceTable
}
