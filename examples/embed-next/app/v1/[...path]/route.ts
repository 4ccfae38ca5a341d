import { turnpike } from '@/turnpike'

const handler = async (request: Request) => (await turnpike()).gateway.fetch(request)
export { handler as GET, handler as POST, handler as DELETE }
