import { gateway } from '@/gateway'

const handler = (request: Request) => gateway.fetch(request)
export { handler as GET, handler as POST, handler as DELETE }
