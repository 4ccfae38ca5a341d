import { turnpike } from '@/turnpike'

const handler = async (request: Request) => (await turnpike()).platform.fetch(request)
export { handler as GET, handler as POST, handler as PUT, handler as PATCH, handler as DELETE }
