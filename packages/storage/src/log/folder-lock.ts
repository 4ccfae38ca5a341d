import { StorageError } from '@turnpike/core'

// Not imported, so that `openKV` can be bundled for workers, which have no folders to lock.
const { link, mkdir, readFile, realpath, rename, rm, writeFile } = process.getBuiltinModule('node:fs/promises')
const { join } = process.getBuiltinModule('node:path')

const isAlive = (pid: number): boolean => {
  try {
    return process.kill(pid, 0)
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}

/**
 * Identifies a process by its id and, on Linux, its start time; '' if Linux shows that it has ended.
 * Ids alone are reused: in a container, at every start.
 */
async function identify(pid: number): Promise<string> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '')
  // The process name, in parentheses, may contain any characters. After it come the state and, as the twentieth field, the start time.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  // A zombie keeps its id until its parent reaps it.
  if (fields[0] === 'Z' || fields[0] === 'X') return ''
  return `${pid} ${fields[19] ?? ''}`.trim()
}

/** Folders that this process has open. Any other lock with our own pid is stale: in a container, every start has the same pid. */
const openFolders = new Set<string>()

/** Locks a folder for this process. @returns a function that unlocks it @throws StorageError if it is open in a running process, or in this one */
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
    await writeFile(mine, await identify(process.pid), { mode: 0o600 })
    // link() creates the lock together with its content, and fails if there is one.
    while (
      !(await link(mine, path).then(
        () => true,
        () => false,
      ))
    ) {
      const found = await readFile(path, 'utf8').catch(() => '')
      const pid = Number(found.split(' ')[0])
      if (pid > 0 && pid !== process.pid && isAlive(pid) && found === (await identify(pid))) refuse(pid)
      // Renamed and not removed: if another process has replaced the stale lock by now, its lock is put back.
      const stale = `${mine}.stale`
      await rename(path, stale).catch(() => undefined)
      if ((await readFile(stale, 'utf8').catch(() => found)) !== found) await link(stale, path).catch(() => undefined)
      await rm(stale, { force: true })
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
