import { randomBytes } from 'node:crypto'
import { memoryKV } from '@turnpike/core'
import { createServer } from '@turnpike/http/node'
import type { TaskPolicy } from '@turnpike/platform'
import { createPlatform, passwordAuth } from '@turnpike/platform'

/** Asked before each change of a task, over HTTP and in this process. What it returns is why the change is refused: a 403. */
const taskPolicy: TaskPolicy = ({ task, change }) => {
  if (task.status === 'done') return 'A task that is done cannot be changed'
  const isResult = change.status === 'done' || change.output
  if (isResult && task.requires_user_approval && task.status !== 'waiting_approval')
    return 'This task has to wait for approval first'
  return undefined
}

const kv = await memoryKV()
const platform = createPlatform({ kv, identity: passwordAuth({ kv }), taskPolicy })
createServer(platform).listen(process.env.PORT ?? 8787)

const password = randomBytes(12).toString('base64url')
await platform.operations.users.create({ email: 'admin@localhost', password, role: 'admin' })
console.log(`Administrator: admin@localhost, password ${password}`)
