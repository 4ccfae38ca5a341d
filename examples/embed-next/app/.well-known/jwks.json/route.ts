import { turnpike } from '@/turnpike'

export const GET = async (request: Request) => (await turnpike()).platform.fetch(request)
