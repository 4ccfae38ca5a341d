/**
 * Fails a test that got an answer of a gateway that docs/openapi/gateway.json does not describe, whether it came by `fetch`, node:http
 * or a gateway in this process (`testGateway`). A set-up file: vitest runs it before each test file, while what it imports is loaded once.
 */
import { afterEach, expect } from 'vitest'
import { hookClients, wrong } from './contract-checks.js'

hookClients()
afterEach(() => expect(wrong.splice(0), 'answers that the OpenAPI document does not describe').toEqual([]))
