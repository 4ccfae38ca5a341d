import * as v from 'valibot'
import type { Origins } from './faults.js'
import { ConfigError, describeFaults } from './faults.js'
import type { Config, ConfigInput } from './schema.js'
import { ConfigSchema } from './schema.js'
import { isTree } from './tree.js'

/** Where the providers of a configuration stand. */
export type ProviderSource = 'file' | 'environment' | 'program'
/** By the list of providers: where they stand, and the file that the configuration was read from. */
const sources = new WeakMap<object, { providers?: ProviderSource | undefined; file?: string | undefined }>()
export const sourceOf = ({ providers }: Pick<Config, 'providers'>): ProviderSource =>
  sources.get(providers)?.providers ?? 'program'
/** The file of a configuration, for faults that show when its providers are made. */
export const fileOf = ({ providers }: Pick<Config, 'providers'>): string | undefined => sources.get(providers)?.file

/** Where a configuration was read from. */
interface Source {
  providers?: ProviderSource
  file?: string | undefined
  /** The variables that gave values. */
  origins?: Origins
  /** The variables that values need, and that are not set. */
  unset?: Origins
}

/**
 * Checks a configuration, and fills in its defaults.
 * @throws ConfigError with all that is wrong
 */
export function checkConfig(
  given: unknown,
  { file, origins = new Map(), unset = new Map(), ...source }: Source = {},
): Config {
  const missing = [...unset].map(([path, name]) => `${path} needs the variable ${name}, which is not set`)
  if (!isTree(given)) throw new ConfigError(['The configuration must be an object of settings'], file)
  const result = v.safeParse(ConfigSchema, given)
  const faults = result.success
    ? missing
    : [
        ...missing,
        ...describeFaults(result.issues, given, origins)
          .filter(({ path }) => !unset.has(path))
          .map(({ text }) => text),
      ]
  if (faults.length > 0 || !result.success) throw new ConfigError([...new Set(faults)], file)
  const { providers = sources.get(given['providers'] as object)?.providers } = source
  sources.set(result.output.providers, { providers, file })
  return result.output
}

/**
 * Types a configuration in a file: `export default defineConfig({ … })`.
 * @example export default defineConfig({ server: { port: 8787 }, providers: [{ type: 'openai', apiKey: '${OPENAI_API_KEY}' }] })
 */
export const defineConfig = (config: ConfigInput): ConfigInput => config
