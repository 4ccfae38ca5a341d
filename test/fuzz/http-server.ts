/** A process that is replaced when it has ended. */
import { setTimeout as sleep } from 'node:timers/promises'
import type { World } from '../platform/world.js'
import { startWorld } from '../platform/world.js'

/** A signal of number 0 only asks whether there is such a process. */
const isAlive = ({ pid }: World): boolean => {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

/** Starts a process. @param create makes a store for each */
export async function lastingServer(create: () => Promise<string>) {
  const env = { TRUSTED_HOPS: '1', RATE_LIMITER: 'memory', KEEP_FAILED: 'true' }
  const start = async (): Promise<World> => startWorld(await create(), env)
  let world = await start()
  return {
    world: (): World => world,

    /** Whether the process has ended, or ends before it has done what is due now. */
    async hasEnded(): Promise<boolean> {
      await sleep(2)
      if (!isAlive(world)) return true
      return world.call('prototype').then(
        () => false,
        () => true,
      )
    },

    /** Starts another process if the last one has ended. @returns whether it did */
    async revive(): Promise<boolean> {
      if (isAlive(world)) return false
      await world.kill()
      world = await start()
      return true
    },
  }
}
