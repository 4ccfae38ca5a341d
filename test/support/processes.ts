import type { ChildProcess } from 'node:child_process'
import { execFileSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'

/** Id, id of the parent, and state of each process. Linux tells it without `ps`, which small installations do not have. */
function readAll(): [pid: string, parent: string, state: string][] {
  if (process.platform !== 'linux')
    return execFileSync('ps', ['-A', '-o', 'pid=,ppid=,stat='], { encoding: 'utf8' })
      .trim()
      .split('\n')
      .map((line) => line.trim().split(/\s+/) as [string, string, string])
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((pid) => {
      try {
        // Before the state is a name in parentheses, which may have blanks and parentheses.
        const [state, parent] = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)!.split(' ')
        return [[pid, parent!, state!]]
      } catch {
        // It has just ended.
        return []
      }
    })
}

/** All processes that have not ended, each with its parent. */
export const processes = (): { pid: number; parent: number }[] =>
  readAll()
    .filter(([, , state]) => !state.startsWith('Z'))
    .map(([pid, parent]) => ({ pid: Number(pid), parent: Number(parent) }))

/** The ids of the processes that a process has started, and that have not ended. */
export const childrenOf = ({ pid: of }: ChildProcess): number[] =>
  processes().flatMap(({ pid, parent }) => (parent === of ? [pid] : []))
