import { link, mkdir, readFile, realpath, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { StorageError } from '@turnpike/core'

const isAlive = (pid: number): boolean => {
  try {
    return process.kill(pid, 0)
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}

/**
 * A process as text: its id and, where Linux tells, when it started; '' where Linux tells that it has ended.
 * Ids come again soon, in a container with every start; both do not.
 */
async function describe(pid: number): Promise<string> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '')
  // The name, in parentheses, may hold anything; after it come the state and, as the twentieth field, the start.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  // One that has ended keeps its id until its parent has asked how.
  if (fields[0] === 'Z' || fields[0] === 'X') return ''
  return `${pid} ${fields[19] ?? ''}`.trim()
}

/** Folders that this process has open. A lock with our own pid is otherwise a relic: in a container every start has the same one. */
const openFolders = new Set<string>()

/** Takes the folder for this process, or refuses while it is open here or in another process that lives. */
export async function lockFolder(folder: string): Promise<() => Promise<void>> {
  await mkdir(folder, { recursive: true, mode: 0o700 })
  const real = await realpath(folder)
  const path = join(real, 'lock')
  const mine = `${path}.${process.pid}`
  const refuse = (pid: number): never => {
    throw new StorageError(
      `${folder} is in use by process ${pid}. A folder serves one process; several need Redis or PostgreSQL`,
      'none',
    )
  }
  if (openFolders.has(real)) refuse(process.pid)
  openFolders.add(real)
  try {
    await writeFile(mine, await describe(process.pid))
    // A link appears with its content, and only where there is none.
    while (
      !(await link(mine, path).then(
        () => true,
        () => false,
      ))
    ) {
      const found = await readFile(path, 'utf8').catch(() => '')
      const pid = Number(found.split(' ')[0])
      if (pid > 0 && pid !== process.pid && isAlive(pid) && found === (await describe(pid))) refuse(pid)
      // Moved away rather than removed: if it is another's new lock by now, it is put back.
      const relic = `${mine}.relic`
      await rename(path, relic).catch(() => undefined)
      if ((await readFile(relic, 'utf8').catch(() => found)) !== found) await link(relic, path).catch(() => undefined)
      await rm(relic, { force: true })
    }
  } catch (error) {
    openFolders.delete(real)
    throw error
  } finally {
    await rm(mine, { force: true })
  }
  return async () => {
    openFolders.delete(real)
    await rm(path, { force: true })
  }
}
