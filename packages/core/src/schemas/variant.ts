import * as v from 'valibot'

type Discriminator = v.LiteralSchema<string, undefined> | v.PicklistSchema<readonly string[], undefined>
type Option<Key extends string> = v.LooseObjectSchema<v.ObjectEntries & Record<Key, Discriminator>, undefined>

/**
 * `v.variant` that goes straight to the option which the discriminator names. valibot's own tries one option after the other and makes an
 * issue for each that is not meant: of a conversation, that is more than half of what it takes to check it.
 */
export function variant<const Key extends string, const Options extends readonly Option<Key>[]>(
  key: Key,
  options: Options,
): v.VariantSchema<Key, Options, undefined> {
  const byName = new Map<unknown, Options[number]>()
  for (const option of options) {
    const discriminator: Discriminator = option.entries[key]
    const names = discriminator.type === 'literal' ? [discriminator.literal] : discriminator.options
    for (const name of names) byName.set(name, option)
  }
  const schema = v.variant(key, options as never) as unknown as v.VariantSchema<Key, Options, undefined>
  const tryAll = schema['~run']
  const run: typeof tryAll = (dataset, config) => {
    const option = byName.get((dataset.value as Record<string, unknown> | null | undefined)?.[key])
    return option
      ? (option['~run'](dataset, config) as ReturnType<typeof tryAll>)
      : tryAll.call(schema, dataset, config)
  }
  return Object.assign(schema, { '~run': run })
}
