import express from 'express'
import { gateway } from './gateway.js'

const app = express()
app.use('/ai', gateway.node)
app.listen(process.env.PORT ?? 8787)
