/** Where the time of a .cpuprofile went, by function, itself and with what it called: `node profile.mjs FILE [COUNT]`. */
import { readFileSync } from 'node:fs'

const [file, count = '25'] = process.argv.slice(2)
const { nodes, samples, timeDeltas } = JSON.parse(readFileSync(file, 'utf8'))

const parents = new Map()
for (const node of nodes) for (const child of node.children ?? []) parents.set(child, node)
const byId = new Map(nodes.map((node) => [node.id, node]))

/** The end of a path that tells one file from another. */
const shorten = (url) => url.replace(/^.*\/(?=packages\/|examples\/|test\/bench\/[^/]+$)|^.*\/node_modules\//, '')

function nameOf({ callFrame: { functionName, url, lineNumber } }) {
  return (functionName || '(anonymous)') + (url ? ` ${shorten(url)}:${lineNumber + 1}` : '')
}

const times = new Map()
let total = 0
const add = (name, field, time) => {
  let entry = times.get(name)
  if (!entry) times.set(name, (entry = { self: 0, inclusive: 0 }))
  entry[field] += time
}
for (const [i, id] of samples.entries()) {
  const leaf = byId.get(id)
  if (leaf.callFrame.functionName === '(idle)') continue
  total += timeDeltas[i]
  add(nameOf(leaf), 'self', timeDeltas[i])
  // A set: a function that calls itself counts once.
  const stack = new Set()
  for (let node = leaf; node; node = parents.get(node.id)) stack.add(nameOf(node))
  for (const name of stack) add(name, 'inclusive', timeDeltas[i])
}

const percent = (time) => `${((100 * time) / total).toFixed(1).padStart(5)} %`
for (const field of ['self', 'inclusive']) {
  console.log(`\n${field}`)
  const top = [...times].toSorted(([, a], [, b]) => b[field] - a[field]).slice(0, Number(count))
  for (const [name, time] of top) console.log(`${percent(time[field])}  ${name}`)
}
