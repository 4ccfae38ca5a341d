import { copyFileSync, readFileSync, writeFileSync } from 'node:fs'
import { defineConfig } from 'tsup'
import { configJsonSchema } from './config-schema.js'

export default defineConfig({
  entry: ['src/index.ts'],
  format: 'esm',
  dts: false,
  clean: true,
  sourcemap: true,
  target: 'node20',
  platform: 'node',
  removeNodeProtocol: false,
  // The console is not published by itself.
  noExternal: ['@turnpike/example-console'],
  async onSuccess() {
    writeFileSync('dist/config.schema.json', `${JSON.stringify(configJsonSchema(), null, 2)}\n`)
    // The console is minified text, which would be there twice.
    const map = JSON.parse(readFileSync('dist/index.js.map', 'utf8')) as { sources: string[]; sourcesContent: string[] }
    map.sourcesContent = map.sourcesContent.map((text, i) =>
      map.sources[i]!.includes('/examples/console/') ? '// The console, minified.' : text,
    )
    writeFileSync('dist/index.js.map', JSON.stringify(map))
    copyFileSync('../../examples/console/dist/THIRD-PARTY-NOTICES.txt', 'dist/THIRD-PARTY-NOTICES.txt')
  },
})
