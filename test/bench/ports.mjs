import { once } from 'node:events'
import { connect } from 'node:net'

/** Whether a port of this machine accepts connections. */
export async function accepts(port) {
  const socket = connect(port, '127.0.0.1')
  try {
    await once(socket, 'connect')
    return true
  } catch {
    return false
  } finally {
    socket.destroy()
  }
}
