import { defineConfig } from 'tsup'

export default defineConfig({
  entry: {
    node: 'src/node.ts',
    bun: 'src/bun.ts',
    storage: 'src/storage-cli.ts',
    users: 'src/users-cli.ts',
    config: 'src/config-cli.ts',
    listener: 'src/listener.ts',
    'hattip-listener': 'src/hattip-listener.ts',
  },
  format: 'esm',
  clean: true,
  sourcemap: true,
  target: 'node20',
})
