// An MCP server on its standard input and output, which lists a tool on each page.
import { setTimeout as sleep } from 'node:timers/promises'
import { Server } from '@modelcontextprotocol/sdk/server/index.js'
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js'
import { CallToolRequestSchema, ListToolsRequestSchema } from '@modelcontextprotocol/sdk/types.js'

const text = (value) => ({ content: [{ type: 'text', text: value }] })
let cancelled = 0

const tools = {
  add: ({ a, b }) => text(`${a + b}`),
  draw: () => ({ content: [...text('A map').content, { type: 'image', data: 'aGk=', mimeType: 'image/png' }] }),
  refuse: () => ({ ...text('The disk is full'), isError: true }),
  throw() {
    throw new Error('There is no file a.txt')
  },
  /** Waits until the caller leaves. */
  wait: (_, signal) =>
    sleep(100_000, text('Too late'), { signal }).catch((error) => {
      cancelled++
      throw error
    }),
  count: () => text(`${cancelled}`),
}
const names = Object.keys(tools)
const number = { type: 'number' }

const server = new Server({ name: 'tests', version: '1.0.0' }, { capabilities: { tools: {} } })
server.setRequestHandler(ListToolsRequestSchema, ({ params }) => {
  const page = Number(params?.cursor ?? 0)
  const inputSchema = {
    type: 'object',
    ...(names[page] === 'add' && { properties: { a: number, b: number }, required: ['a', 'b'] }),
  }
  return {
    tools: [{ name: names[page], description: `Can ${names[page]}`, inputSchema }],
    ...(page + 1 < names.length && { nextCursor: `${page + 1}` }),
  }
})
server.setRequestHandler(CallToolRequestSchema, ({ params }, { signal }) =>
  tools[params.name](params.arguments, signal),
)
await server.connect(new StdioServerTransport())
