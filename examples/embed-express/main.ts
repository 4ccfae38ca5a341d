import express from 'express'
import { gateway } from './gateway.js'
import { platform } from './platform.js'

const app = express()
app.use('/ai', gateway.node)
app.use(platform.node)
app.get('/', (_, response) => void response.send('My app'))
app.listen(process.env.PORT ?? 8787)
