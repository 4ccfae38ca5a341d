// Runs scripts of package.json one after the other, and shows the output only of one that fails.
// Usage: node .ci/quietly.mjs setup build
import { spawnSync } from 'node:child_process'

for (const name of process.argv.slice(2)) {
  console.log(`npm run ${name}`)
  // One pipe, so that both kinds of output stay in their order.
  const { status, stdout } = spawnSync(`npm run ${name} 2>&1`, { shell: true, encoding: 'utf8', maxBuffer: Infinity })
  if (status === 0) continue
  console.error(stdout)
  process.exit(status ?? 1)
}
