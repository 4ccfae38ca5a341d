// Runs the worker in workerd, as `wrangler dev` does.
import { randomBytes } from 'node:crypto'
import { build } from 'esbuild'
import { Miniflare } from 'miniflare'

const { outputFiles } = await build({
  entryPoints: ['worker.ts'],
  bundle: true,
  format: 'esm',
  external: ['node:*'],
  write: false,
  logLevel: 'error',
})
const { PORT = '8787', OPENAI_API_KEY, OPENAI_BASE_URL } = process.env
const GATEWAY_KEY = `gw-${randomBytes(32).toString('base64url')}`
const worker = new Miniflare({
  modules: [{ type: 'ESModule', path: 'worker.js', contents: outputFiles[0].text }],
  compatibilityDate: '2026-04-01',
  port: Number(PORT),
  durableObjects: { GATEWAY: { className: 'GatewayObject', useSQLite: true } },
  bindings: { GATEWAY_KEY, ...(OPENAI_API_KEY && { OPENAI_API_KEY }), ...(OPENAI_BASE_URL && { OPENAI_BASE_URL }) },
})
await worker.ready
console.log(`Gateway key: ${GATEWAY_KEY}`)
