import { createReadStream, createWriteStream, fchmodSync, fstatSync, openSync } from 'node:fs'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { KV } from '@turnpike/core'
import { entriesOf, verifyStore } from '@turnpike/core'
import { verifyPlatform } from '@turnpike/platform'
import { exportStore, importStore } from '@turnpike/storage/transfer'
import { loadConfig, openFiles, openStorage } from 'turnpike'

const USAGE = `Usage: npm run -s storage -- COMMAND STORAGE [FILE]
  export STORAGE [FILE]   writes all entries, a line each, to a file (of its owner alone) or standard output
  import STORAGE [FILE]   fills an empty store from a file or standard input
  verify STORAGE [FILES]  reads everything, and compares indexes and totals with what they are of, and files with their bytes
STORAGE and FILES are as in the environment of the server, such as fs:.turnpike or redis://localhost. Stop the server first.`

/** Reports the progress of a command on standard error, at most once a second. */
function progress(what: string) {
  let reportedAt = Date.now()
  return (entries: number): void => {
    if (Date.now() - reportedAt < 1_000) return
    reportedAt = Date.now()
    console.error(`${what} ${entries.toLocaleString('en')} entries …`)
  }
}

async function* exportLines(kv: KV): AsyncGenerator<string> {
  const report = progress('exported')
  let lines = 0
  for await (const line of exportStore(kv)) {
    yield `${line}\n`
    report(lines++)
  }
  console.error(`Exported ${(lines - 2).toLocaleString('en')} entries`)
}

async function* linesOf(input: NodeJS.ReadableStream): AsyncGenerator<string> {
  let rest = ''
  for await (const piece of input.setEncoding('utf8')) {
    const lines = (rest + piece).split('\n')
    rest = lines.pop()!
    yield* lines
  }
  if (rest !== '') yield rest
}

/** A file for its owner alone, also where it was there before: an export has hashes of passwords, and sealed keys. */
function ownFile(file: string): NodeJS.WritableStream {
  const fd = openSync(file, 'w', 0o600)
  if (fstatSync(fd).isFile()) fchmodSync(fd, 0o600)
  return createWriteStream(file, { fd })
}

const commands: Record<string, (kv: KV, file?: string) => Promise<void>> = {
  export: (kv, file) => pipeline(Readable.from(exportLines(kv)), file ? ownFile(file) : process.stdout),
  async import(kv, file) {
    const input = file ? createReadStream(file) : process.stdin
    const entries = await importStore(kv, linesOf(input), progress('imported'))
    console.error(`Imported ${entries.toLocaleString('en')} entries`)
  },
  async verify(kv, where) {
    const files = where === undefined ? undefined : await openFiles(await loadConfig({ ...process.env, FILES: where }))
    const report = progress('read')
    let entries = 0
    for await (const _ of entriesOf(kv)) report(++entries)
    let problems = 0
    for (const found of [verifyStore(kv), verifyPlatform(kv, files)])
      for await (const problem of found) {
        problems++
        console.log(problem)
      }
    await files?.close()
    console.log(`${entries.toLocaleString('en')} entries, ${problems} problems`)
    if (problems > 0) process.exitCode = 1
  },
}

const [command = '', storage, file] = process.argv.slice(2)
const run = commands[command]
if (!run || storage === undefined) {
  console.error(USAGE)
  process.exit(2)
}
try {
  const { kv } = await openStorage(storage)
  try {
    await run(kv, file)
  } finally {
    await kv.close()
  }
} catch (error) {
  console.error(`${command} failed: ${(error as Error).message}`)
  process.exitCode = 1
}
