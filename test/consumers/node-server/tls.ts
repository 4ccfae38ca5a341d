import { readFileSync } from 'node:fs'
import { createServer } from 'node:https'
import { createListener } from '@turnpike/http/node'
import { gateway } from './gateway.js'

const key = readFileSync('key.pem')
const cert = readFileSync('cert.pem')
createServer({ key, cert }, createListener(gateway)).listen(443)
