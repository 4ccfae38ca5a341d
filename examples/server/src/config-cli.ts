import { checkProviders, findConfig, loadConfig, shownConfig } from 'turnpike'
import { stringify } from 'yaml'

const USAGE = `Usage: npm run -s config -- COMMAND
  check   reads turnpike.config.*, or the file that CONFIG names, and the environment, and says what is wrong
  print   shows what comes of them, without secrets`

const commands: Record<string, () => Promise<void>> = {
  async check() {
    checkProviders(await loadConfig())
    console.log(`${findConfig(process.env) ?? 'The environment'} is right`)
  },
  async print() {
    console.log(stringify(shownConfig(await loadConfig())).trimEnd())
  },
}

const [command = '', ...more] = process.argv.slice(2)
const run = commands[command]
if (!run || more.length > 0) {
  console.error(USAGE)
  process.exit(2)
}
try {
  await run()
} catch (error) {
  console.error((error as Error).message)
  process.exitCode = 1
}
