// Follows README.md as a newcomer does, in the working directory: pastes its blocks in order, up to "Work on it", whose commands have their own
// steps in .ci/run. Usage: REPOSITORY=<checkout> node readme.mjs
import { spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { createServer } from 'node:net'

/** The seconds that the page may take, on a busy machine too. */
const WHOLE_S = 300

const begin = Date.now()
const seconds = () => (Date.now() - begin) / 1_000
const fail = (text) => {
  console.error(`README: ${text}`)
  process.exitCode = 1
}

const listener = createServer().listen(0, '127.0.0.1')
await new Promise((resolve) => listener.once('listening', resolve))
const port = String(listener.address().port)
await new Promise((resolve) => listener.close(resolve))

const page = readFileSync(`${process.env.REPOSITORY}/README.md`, 'utf8').replaceAll('8787', port)
const [start, ...rest] = [...page.slice(0, page.indexOf('## Work on it')).matchAll(/^```(sh|js)\n([^]*?)^```/gm)]

/** Starts bash in a process group of its own. @returns the process, and what it has printed */
function bash(lines, { onData } = {}) {
  const shell = spawn('bash', ['-euo', 'pipefail', '-c', lines], {
    env: { ...process.env, PORT: port },
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  })
  const terminal = { pid: shell.pid, output: '', ended: new Promise((resolve) => shell.once('close', resolve)) }
  const read = (data) => {
    terminal.output += data
    onData?.(terminal.output)
  }
  shell.stdout.on('data', read)
  shell.stderr.on('data', read)
  return terminal
}

/** The time at the end of each block, which its lines print. */
const stamp = (name) => `printf '\\n== %s %s\\n' '${name}' $EPOCHREALTIME`

/** What a reader does with a block: lines are pasted, a program is saved under the name in its first line. */
const actionOf = ([, language, code]) =>
  language === 'sh' ? code : `cat > ${/^\/\/ (\S+)\n/.exec(code)[1]} <<'END'\n${code}END\n`

const tell = (name, at, from) => console.log(`README: ${(at - from).toFixed(1).padStart(6)} s  ${name}`)
let server
try {
  // The first terminal, in which the server stays in the foreground.
  server = await new Promise((resolve, reject) => {
    const terminal = bash(start[2], { onData: (output) => /^ *curl /m.test(output) && resolve(terminal) })
    void terminal.ended.then(() => reject(new Error(`npm start ended:\n${terminal.output}`)))
    setTimeout(() => reject(new Error(`npm start:\n${terminal.output}`)), WHOLE_S * 1_000).unref()
  })
  tell('npm start', seconds(), 0)
  const [, key] = /^ {2}(gw-\S+)$/m.exec(server.output)

  const lines = rest.flatMap((block, i) => [actionOf(block), stamp(`block ${i + 2} (${block[1]})`)]).join('\n')
  const printed = /^ *(curl .*)$/m.exec(server.output)[1]
  let from = seconds()
  const second = bash(`${lines.replace('gw-…', key)}\n${printed}\n${stamp('the curl command that npm start printed')}`)
  const code = await second.ended
  for (const [, name, at] of second.output.matchAll(/^== (.*) ([\d.]+)$/gm)) {
    tell(name, Number(at) - begin / 1_000, from)
    from = Number(at) - begin / 1_000
  }
  const [streamed = '', ...others] = second.output.split('== ')
  if (code !== 0) fail(`a block failed with ${code}:\n${second.output}`)
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
  if (server) {
    process.kill(-server.pid, 'SIGTERM')
    await server.ended
  }
}
