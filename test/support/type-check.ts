import { execFileSync } from 'node:child_process'
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('../..', import.meta.url))

/**
 * Type-checks programs of docs, which may have unused variables, with the packages that the tests have.
 * @param name of the folder of their own that they are in meanwhile
 * @param programs by file name
 * @throws Error with what the compiler says
 */
export function typeCheck(name: string, programs: Record<string, string>): void {
  const folder = join(root, 'test', `.${name}`)
  mkdirSync(folder, { recursive: true })
  try {
    for (const [file, code] of Object.entries(programs)) writeFileSync(join(folder, file), `${code}\nexport {}\n`)
    writeFileSync(
      join(folder, 'tsconfig.json'),
      JSON.stringify({
        extends: '../../tsconfig.base.json',
        compilerOptions: { noUnusedLocals: false },
        // What a bundler makes of a page.
        include: ['*.ts', '../../packages/dashboard/src/pages.d.ts'],
      }),
    )
    execFileSync(process.execPath, [join(root, 'node_modules/typescript/bin/tsc'), '-p', folder], { encoding: 'utf8' })
  } catch (error) {
    throw new Error((error as { stdout?: string }).stdout ?? String(error), { cause: error })
  } finally {
    rmSync(folder, { recursive: true })
  }
}
