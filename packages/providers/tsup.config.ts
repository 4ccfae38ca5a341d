import { defineConfig } from 'tsup'

export default defineConfig({
  entry: [
    'src/index.ts',
    'src/openai/index.ts',
    'src/anthropic/index.ts',
    'src/google/index.ts',
    'src/presets.ts',
    'src/azure.ts',
    'src/bedrock/index.ts',
    'src/vertex/index.ts',
    'src/undici.ts',
    'src/remote-content.ts',
    'src/testing/index.ts',
  ],
  format: 'esm',
  dts: false,
  clean: true,
  sourcemap: true,
  target: 'node20',
  platform: 'neutral',
  // Bundlers of Workers and Deno know the modules of Node by `node:` only.
  removeNodeProtocol: false,
  external: [/^node:/],
})
