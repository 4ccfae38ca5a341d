import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { blocksOf, readPage } from '../support/page.js'
import { freePort } from '../support/free-port.js'
import { programs } from '../support/needs.js'
import { listens } from '../support/server.js'

/** A running reverse proxy on https://localhost. */
export interface ReverseProxy {
  port: number
  stop(): Promise<void>
}

/** A reverse proxy of docs/deployment.md. */
interface Kind {
  name: 'nginx' | 'caddy' | 'haproxy'
  /** The whole configuration, made of the page's. */
  configure(shown: string, at: { folder: string; port: number; upstream: string }): string
  parametersOf(folder: string): string[]
}

/** Replaces what the page shows. @throws Error where the page does not have it */
const replace = (text: string, ...pairs: [string, string][]): string =>
  pairs.reduce((all, [shown, ours]) => {
    if (!all.includes(shown)) throw new Error(`docs/deployment.md does not have "${shown}"`)
    return all.replace(shown, ours)
  }, text)

export const kinds: Kind[] = [
  {
    name: 'nginx',
    configure: (shown, { folder, port, upstream }) =>
      `daemon off;
${process.getuid?.() === 0 ? 'user root;' : ''}
pid ${folder}/nginx.pid;
error_log stderr;
events {}
http {
access_log off;
${['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map((name) => `${name}_temp_path ${folder}/${name};`).join('\n')}
${replace(
  shown,
  ['127.0.0.1:8787', upstream],
  ['listen 443', `listen 127.0.0.1:${port}`],
  ['/etc/ssl/ai.example.pem', `${folder}/cert.pem`],
  ['/etc/ssl/ai.example.key', `${folder}/key.pem`],
)}}`,
    parametersOf: (folder) => ['-p', folder, '-c', join(folder, 'nginx'), '-e', 'stderr'],
  },
  {
    name: 'caddy',
    configure: (shown, { folder, port, upstream }) =>
      `{
	admin off
	auto_https disable_redirects
}
${replace(shown, ['127.0.0.1:8787', upstream], ['ai.example {', `https://localhost:${port} {\n\ttls ${folder}/cert.pem ${folder}/key.pem`])}`,
    parametersOf: (folder) => ['run', '--adapter', 'caddyfile', '--config', join(folder, 'caddy')],
  },
  {
    name: 'haproxy',
    // Its own limit is 101 lines of a head.
    configure: (shown, { folder, port, upstream }) =>
      `global
  tune.http.maxhdr 32767
  tune.bufsize 65536
${replace(
  shown,
  ['127.0.0.1:8787', upstream],
  ['bind :443', `bind 127.0.0.1:${port}`],
  ['/etc/ssl/ai.example.pem', `${folder}/both.pem`],
)}`,
    parametersOf: (folder) => ['-db', '-f', join(folder, 'haproxy')],
  },
]

/** Starts a reverse proxy with the configuration that the page shows, in front of a server. @param url of the server */
export async function startProxy(kind: Kind, url: string): Promise<ReverseProxy> {
  const [shown, ...more] = blocksOf(readPage('docs/deployment.md'), kind.name)
  if (shown === undefined || more.length > 0)
    throw new Error(`docs/deployment.md has not one configuration of ${kind.name}`)
  const folder = await mkdtemp(join(tmpdir(), `turnpike-${kind.name}-`))
  const certificate = '-newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 1 -subj /CN=localhost'.split(' ')
  const files = ['-keyout', join(folder, 'key.pem'), '-out', join(folder, 'cert.pem')]
  execFileSync(programs.openssl.path, ['req', '-x509', ...certificate, ...files], { stdio: 'ignore' })
  const pem = await Promise.all(['cert.pem', 'key.pem'].map((name) => readFile(join(folder, name))))
  await writeFile(join(folder, 'both.pem'), Buffer.concat(pem))
  const port = await freePort()
  const configuration = kind.configure(shown, { folder, port, upstream: new URL(url).host })
  await writeFile(join(folder, kind.name), configuration)
  const child = spawn(programs[kind.name].path, kind.parametersOf(folder), {
    stdio: ['ignore', 'ignore', 'pipe'],
    env: { PATH: process.env['PATH'], HOME: folder },
  })
  let log = ''
  child.stderr.on('data', (data: Buffer) => (log += data.toString()))
  const ended = once(child, 'exit')
  while (!(await listens(`http://127.0.0.1:${port}`))) {
    if (child.exitCode !== null) throw new Error(`${kind.name} ended:\n${log}`)
    await sleep(20)
  }
  return {
    port,
    async stop() {
      child.kill('SIGTERM')
      await ended
      await rm(folder, { recursive: true })
    },
  }
}
