import { readFileSync } from 'node:fs'
import { checkProviders, findConfig, fromLitellm, loadConfig, shownConfig } from 'turnpike'
import { parse, stringify } from 'yaml'

const USAGE = `Usage: npm run -s config -- COMMAND
  check   reads turnpike.config.*, or the file that CONFIG names, and the environment, and says what is wrong
  print   shows what comes of them, without secrets
  from-litellm FILE
          writes the configuration of LiteLLM's proxy as a turnpike.config.yaml, and to standard error what is not carried over`

const commands: Record<string, (...more: string[]) => Promise<void> | void> = {
  async check() {
    await checkProviders(await loadConfig())
    console.log(`${findConfig(process.env) ?? 'The environment'} is right`)
  },
  async print() {
    console.log(stringify(shownConfig(await loadConfig())).trimEnd())
  },
  'from-litellm'(file) {
    // Python's YAML is 1.1, with numbers such as 80_000.
    const { config, notes } = fromLitellm(parse(readFileSync(file!, 'utf8'), { version: '1.1' }))
    for (const { path, reason } of notes) console.error(`${path}: ${reason}`)
    if (!config.providers?.length) throw new Error(`${file} has no model that can be carried over`)
    console.log(stringify(config).trimEnd())
  },
}

const [command = '', ...more] = process.argv.slice(2)
const run = commands[command]
if (!run || more.length !== run.length) {
  console.error(USAGE)
  process.exit(2)
}
try {
  await run(...more)
} catch (error) {
  console.error((error as Error).message)
  process.exitCode = 1
}
