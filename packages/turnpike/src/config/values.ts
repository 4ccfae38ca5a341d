/**
 * Kinds of values. Each takes its text as well, so that a variable of the environment, or `${NAME}` in a file, can give it. The message of a schema
 * is what is expected, to be read after "must be". @module
 */
import { parseUrl } from '@turnpike/core/helpers'
import * as v from 'valibot'
import { nearest } from './nearest.js'

/** A day, the longest of all times, in milliseconds. */
export const MAX_MS = 86_400_000

/** The highest rate, in requests a minute. */
export const MOST_RATE = 1_000_000_000

export const integer = (min: number, max = Number.MAX_SAFE_INTEGER) => {
  const expected =
    max < Number.MAX_SAFE_INTEGER ? `a whole number from ${min} to ${max}` : `a whole number, at least ${min}`
  return v.union(
    [
      v.pipe(v.number(), v.safeInteger(expected), v.minValue(min, expected), v.maxValue(max, expected)),
      v.pipe(
        v.string(),
        v.regex(/^\d{1,16}$/, expected),
        v.transform(Number),
        v.minValue(min, expected),
        v.maxValue(max, expected),
      ),
    ],
    expected,
  )
}

/** A number of at least 0. */
export const decimal = () => {
  const expected = 'a number of at least 0'
  return v.union(
    [
      v.pipe(v.number(), v.finite(expected), v.minValue(0, expected)),
      v.pipe(v.string(), v.regex(/^\d+(\.\d+)?$/, expected), v.transform(Number)),
    ],
    expected,
  )
}

/** A number above 0. */
export const positive = () => {
  const expected = 'a number above 0'
  return v.union(
    [
      v.pipe(v.number(), v.finite(expected), v.gtValue(0, expected)),
      v.pipe(v.string(), v.regex(/^\d+(\.\d+)?$/, expected), v.transform(Number), v.gtValue(0, expected)),
    ],
    expected,
  )
}

export const flag = () => {
  const expected = 'true or false'
  return v.union(
    [
      v.boolean(),
      v.pipe(
        v.picklist(['true', 'false'], expected),
        v.transform((text) => text === 'true'),
      ),
    ],
    expected,
  )
}

/** A flag that is called so. */
export const onOrOff = () => {
  const expected = 'on or off'
  return v.union(
    [
      v.boolean(),
      v.pipe(
        v.picklist(['on', 'off'], expected),
        v.transform((text) => text === 'on'),
      ),
    ],
    expected,
  )
}

/** One of some words. */
export const oneOf = <const Words extends readonly string[]>(words: Words) =>
  v.picklist(words, `one of ${words.join(', ')}`)

export const text = (expected = 'a text') => v.pipe(v.string(expected), v.nonEmpty(expected))

export const matching = (form: RegExp, expected: string) => v.pipe(v.string(expected), v.regex(form, expected))

const isUrl = (value: string): boolean => /^https?:$/.test(parseUrl(value)?.protocol ?? '')

/** An address without a slash at its end. */
export const url = () => {
  const expected = 'a URL that begins with http:// or https://'
  return v.pipe(
    v.string(expected),
    v.check(isUrl, expected),
    v.transform((value) => value.replace(/\/+$/, '')),
  )
}

/** Texts; as one text, separated by commas. @param accepts what each must be */
export const list = (expected: string, accepts: (item: string) => boolean = (item) => /^\S+$/.test(item)) =>
  v.union(
    [
      v.pipe(
        v.array(v.string(expected), expected),
        v.check((items) => items.every(accepts), expected),
      ),
      v.pipe(
        v.string(),
        v.transform((value) => value.split(',').map((item) => item.trim())),
        v.check((items) => items.every(accepts), expected),
      ),
    ],
    expected,
  )

/** Origins of pages. */
export const origins = () =>
  list('origins, such as https://app.example', (origin) => parseUrl(origin)?.origin === origin)

/** One of two forms of a value, so that what is wrong is told of the form that it has. A JSON Schema, which has no value to look at, has both. */
export const either = <const One extends v.GenericSchema, const Other extends v.GenericSchema>(
  isOne: (given: unknown) => boolean,
  one: One,
  other: Other,
) => {
  const both = v.union([one, other]) as unknown as One | Other
  return v.lazy((given): One | Other => (given === undefined ? both : isOne(given) ? one : other))
}

/** Values by names. */
export const byName = <const Value extends v.GenericSchema>(expected: string, value: Value) => {
  const record = v.record(v.string(), value, expected)
  // A list would be one, by its indexes.
  const none = v.never(expected) as unknown as typeof record
  return v.lazy((given) => (Array.isArray(given) ? none : record))
}

/** Secrets of which the first is used and all are accepted. */
export const secrets = () =>
  list('at least 32 characters; several are separated by commas', (secret) => secret.length >= 32)

/** Code, which only a file of JavaScript or TypeScript, or a program, can give. */
export const code = <T>(expected = 'a function') => v.custom<T>((value) => typeof value === 'function', expected)

/** An object of settings that has no others. */
export const section = <const Entries extends v.ObjectEntries>(entries: Entries) =>
  v.strictObject(entries, ({ path, expected }) => {
    const names = Object.keys(entries).filter((name) => name !== '$schema')
    const key = path?.at(-1)?.key
    if (typeof key !== 'string')
      return `a section of settings (${names.length > 3 ? [...names.slice(0, 3), '…'].join(', ') : names.join(', ')})`
    if (expected !== 'never') return v.safeParse(entries[key]!, undefined).issues![0].message
    const meant = nearest(key, names)
    return meant === undefined ? `there are ${names.join(', ')}` : `did you mean ${meant}?`
  })

/** A setting of a section. @param preset its default; absent = the setting may be, too */
export function setting<const S extends v.GenericSchema>(
  description: string,
  schema: S,
): v.ExactOptionalSchema<S, undefined>
export function setting<const S extends v.GenericSchema, const D extends v.InferInput<S>>(
  description: string,
  schema: S,
  preset: D,
): v.ExactOptionalSchema<S, D>
export function setting(description: string, schema: v.GenericSchema, preset?: unknown): v.GenericSchema {
  return v.exactOptional(v.pipe(schema, v.description(description)), preset as undefined)
}

/** An object with methods, which only code can give. */
export const object = <T>(expected: string) =>
  v.custom<T>((value) => typeof value === 'object' && value !== null, expected)
