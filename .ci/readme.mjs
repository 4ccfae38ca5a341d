// Follows README.md as a newcomer does, in the working directory: pastes its blocks in order, up to "Work on it", whose commands have their own
// steps in .ci/run. Usage: REPOSITORY=<checkout> node readme.mjs
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'

/** The seconds that the page may take, on a busy machine too. */
const WHOLE_S = 300
/** The lines that `npm start` may print until it shows the key and how to use it. */
const START_LINES = 40

const begin = Date.now()
const seconds = () => (Date.now() - begin) / 1_000
const fail = (text) => {
  console.error(`README: ${text}`)
  process.exitCode = 1
}

const listener = createServer().listen(0, '127.0.0.1')
await once(listener, 'listening')
const port = String(listener.address().port)
await new Promise((resolve) => listener.close(resolve))

const page = readFileSync(`${process.env.REPOSITORY}/README.md`, 'utf8').replaceAll('8787', port)
const [start, ...rest] = [...page.slice(0, page.indexOf('## Work on it')).matchAll(/^```(sh|js)\n([^]*?)^```/gm)]

/** Starts bash in a process group of its own, which is killed when the time is over. @returns what it has printed so far, and how it ended */
function bash(lines) {
  const shell = spawn('bash', ['-euo', 'pipefail', '-c', lines], {
    env: { ...process.env, PORT: port, LC_ALL: 'C' },
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  })
  const terminal = { pid: shell.pid, output: '', stdout: '', code: undefined, ended: once(shell, 'close') }
  for (const stream of [shell.stdout, shell.stderr]) stream.on('data', (data) => (terminal.output += data))
  shell.stdout.on('data', (data) => (terminal.stdout += data))
  const late = setTimeout(() => process.kill(-shell.pid, 'SIGKILL'), WHOLE_S * 1_000)
  shell.once('close', (code) => {
    clearTimeout(late)
    terminal.code = code
  })
  return terminal
}

/** The time at the end of each block, which its lines print. */
const stamp = (name) => `printf '\\n== %s %s\\n' '${name}' $EPOCHREALTIME`

/** What a reader does with a block: lines are pasted, a program is saved under the name in its first line. */
const actionOf = ([, language, code]) =>
  language === 'sh' ? code : `cat > ${/^\/\/ (\S+)\n/.exec(code)[1]} <<'END'\n${code}END\n`

const tell = (name, at, from) => console.log(`README: ${(at - from).toFixed(1).padStart(6)} s  ${name}`)

// The first terminal, in which the server stays in the foreground.
const server = bash(start[2])
try {
  while (!/^ *curl .*\n/m.test(server.output)) {
    if (server.code !== undefined || seconds() > WHOLE_S) throw new Error(`npm start:\n${server.output}`)
    await sleep(100)
  }
  tell('npm start', seconds(), 0)
  const printedLines = server.output.split('\n').length
  if (printedLines > START_LINES) fail(`npm start printed ${printedLines} lines, more than ${START_LINES}`)
  const [, key] = /^ {2}(gw-\S+)$/m.exec(server.output)

  const lines = rest.flatMap((block, i) => [actionOf(block), stamp(`block ${i + 2} (${block[1]})`)]).join('\n')
  const printed = /^ *(curl .*)$/m.exec(server.output)[1]
  let from = seconds()
  const second = bash(`${lines.replace('gw-…', key)}\n${printed}\n${stamp('the curl command that npm start printed')}`)
  await second.ended
  for (const [, name, at] of second.stdout.matchAll(/^== (.*) ([\d.]+)$/gm)) {
    tell(name, Number(at) - begin / 1_000, from)
    from = Number(at) - begin / 1_000
  }
  // Without the progress of curl, which stands in the middle of lines.
  const [streamed = '', ...others] = second.stdout.split('== ')
  if (second.code !== 0) fail(`a block failed with ${second.code ?? 'the end of the time'}:\n${second.output}`)
  else if ((streamed.match(/^data: \{/gm) ?? []).length < 3 || !streamed.includes('\ndata: [DONE]\n'))
    fail(`curl did not print a stream:\n${streamed}`)
  else if (!others.some((text) => text.includes('\nThis is a simulated answer. You said: Hello!')))
    fail(`the program did not print an answer:\n${second.output}`)
  else if (!others.at(-2).includes('"object":"chat.completion"'))
    fail(`the printed curl was answered:\n${others.at(-2)}`)
  console.log(`README: ${seconds().toFixed(1)} s from nothing to a streamed answer of a program`)
  if (seconds() > WHOLE_S) fail(`that is more than ${WHOLE_S} s`)
} catch (error) {
  fail(error.message)
} finally {
  if (server.code === undefined) process.kill(-server.pid, 'SIGTERM')
  await server.ended
}
