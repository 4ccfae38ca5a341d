#!/usr/bin/env node
import { writeFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import type { FamilyName } from './families/family.js'
import { familyNames } from './families/family.js'
import { runChecklist } from './platform.js'
import { ConformanceError, DEFAULT_UPSTREAM_PORT, runConformance, selected } from './run.js'
import { checklistScorecard, scorecard } from './scorecard.js'

const usage = `Usage: turnpike-conformance URL [options]
       turnpike-conformance URL --platform --email EMAIL [--json FILE]

Tests the OpenAI-compatible gateway at URL, in front of upstreams that this program starts:
http://127.0.0.1:${DEFAULT_UPSTREAM_PORT}/openai/v1, /anthropic and /google/v1beta.

  --key KEY                  the gateway's key
  --header 'NAME: VALUE'     a header of every request; may be repeated
  --openai-header, --anthropic-header, --google-header 'NAME: VALUE'
                             a header of the requests for that family; may be repeated
  --openai-model, --anthropic-model, --google-model MODEL
                             the model to ask for
  --other-models PATTERN     how the gateway calls models of the OpenAI upstream that are not OpenAI's: * stands for their name, default *
  --upstream-port PORT       port of the upstreams, default ${DEFAULT_UPSTREAM_PORT}
  --only TEXT                only cases of that suite or family, or with that text in their names; may be repeated, to match all
  --json FILE                writes the report to a file as well
  --list                     lists the cases and ends
  --platform                 tries the checklist of the platform at URL instead. It makes people, projects and files there
  --email EMAIL              an administrator of the platform; their password is in the variable PASSWORD of the environment

Exit code: 0 = nothing failed, 1 = something did, 2 = nothing could be tested.
`

const texts = { type: 'string', multiple: true, default: [] as string[] } as const
const text = { type: 'string' } as const

class UsageError extends Error {}

function parse() {
  try {
    return parseArgs({
      allowPositionals: true,
      options: {
        key: text,
        header: texts,
        'openai-header': texts,
        'anthropic-header': texts,
        'google-header': texts,
        'openai-model': text,
        'anthropic-model': text,
        'google-model': text,
        'other-models': text,
        'upstream-port': text,
        only: texts,
        json: text,
        list: { type: 'boolean' },
        platform: { type: 'boolean' },
        email: text,
        help: { type: 'boolean', short: 'h' },
      },
    })
  } catch (error) {
    throw new UsageError((error as Error).message)
  }
}

type Values = ReturnType<typeof parse>['values']

function urlOf([url, ...more]: string[]): string {
  if (url === undefined || more.length > 0) throw new UsageError('Exactly one URL is needed')
  if (!/^https?:\/\//.test(url) || !URL.canParse(url)) throw new UsageError(`No URL: ${url}`)
  return url
}

const headersOf = (lines: string[]): Record<string, string> =>
  Object.fromEntries(
    lines.map((line) => {
      const [, name, value] = /^([^\s:]+):\s*(.*)$/.exec(line) ?? []
      if (name === undefined || value === undefined) throw new UsageError(`A header is NAME: VALUE, not ${line}`)
      return [name, value]
    }),
  )

function portOf(text = String(DEFAULT_UPSTREAM_PORT)): number {
  const port = Number(text)
  if (!Number.isInteger(port) || port < 1 || port > 65535) throw new UsageError(`--upstream-port: no port: ${text}`)
  return port
}

const byFamily = <T>(of: (family: FamilyName) => T | undefined): Partial<Record<FamilyName, T>> =>
  Object.fromEntries(familyNames.flatMap((family) => (of(family) === undefined ? [] : [[family, of(family)]])))

const save = (file: string | undefined, report: object): void => {
  if (file !== undefined) writeFileSync(file, `${JSON.stringify(report, null, 2)}\n`)
}

async function testPlatform(url: string, { email, json }: Values): Promise<number> {
  const password = process.env['PASSWORD']
  if (email === undefined || !password)
    throw new UsageError('--platform needs --email, and the password in the variable PASSWORD')
  const target = { url: url.replace(/\/+$/, ''), email, password }
  const results = await runChecklist(target, ({ number, title, outcome }) =>
    console.error(`${outcome === 'failed' ? 'FAILED' : outcome}  #${number} ${title}`),
  )
  console.log(checklistScorecard(results))
  save(json, { url, results })
  return results.some(({ outcome }) => outcome === 'failed') ? 1 : 0
}

async function testGateway(url: string, values: Values): Promise<number> {
  const report = await runConformance({
    url,
    ...(values.key !== undefined && { key: values.key }),
    headers: headersOf(values.header),
    familyHeaders: byFamily((family) => headersOf(values[`${family}-header`])),
    models: byFamily((family) => values[`${family}-model`]),
    ...(values['other-models'] !== undefined && { otherModels: values['other-models'] }),
    only: values.only,
    upstreamPort: portOf(values['upstream-port']),
    onResult: ({ suite, family, name, passed }) =>
      console.error(`${passed ? 'passed' : 'FAILED'}  ${suite}, ${family}: ${name}`),
  })
  console.log(scorecard(report))
  save(values.json, report)
  return report.results.every(({ passed }) => passed) ? 0 : 1
}

async function main(): Promise<number> {
  const { values, positionals } = parse()
  if (values.help) {
    process.stdout.write(usage)
    return 0
  }
  if (values.list) {
    for (const { suite, family, name } of selected(values.only)) console.log(`${suite}, ${family.name}: ${name}`)
    return 0
  }
  const url = urlOf(positionals)
  return values.platform ? testPlatform(url, values) : testGateway(url, values)
}

try {
  process.exitCode = await main()
} catch (error) {
  if (!(error instanceof UsageError || error instanceof ConformanceError)) throw error
  console.error(error.message)
  if (error instanceof UsageError) console.error(`\n${usage}`)
  process.exitCode = 2
}
