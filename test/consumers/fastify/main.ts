import middie from '@fastify/middie'
import fastify from 'fastify'
import { gateway } from './gateway.js'

const app = fastify()
await app.register(middie)
app.use('/ai', gateway.node)
await app.listen({ port: Number(process.env.PORT ?? 8787) })
