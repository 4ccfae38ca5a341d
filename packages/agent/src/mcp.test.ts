import { expect, it } from 'vitest'
import { scriptedTask } from '../../../test/support/agent.js'
import type { McpClient } from './mcp.js'
import { mcpTools } from './mcp.js'

it('the tools of an MCP server are those of an agent, page by page', async () => {
  const asked: unknown[] = []
  const client: McpClient = {
    async listTools({ cursor } = {}) {
      const name = cursor ?? 'first'
      const tools = [{ name, description: 'A tool', inputSchema: { type: 'object' as const } }]
      return { tools, ...(name === 'first' && { nextCursor: 'second' }) }
    },
    async callTool(params, _, options) {
      asked.push([params, options!.signal.aborted])
      if (params.name === 'second') return { isError: true, content: [{ type: 'text', text: 'It broke' }] }
      return {
        content: [
          { type: 'text', text: 'Sunny' },
          { type: 'image', data: '' },
        ],
      }
    },
  }
  const tools = await mcpTools(client, { prefix: 'weather_' })
  const at = await scriptedTask((results) =>
    results.length > 0
      ? { text: results.join(' '), calls: [] }
      : { text: '', calls: ['first', 'second'].map((id) => ({ id, name: `weather_${id}`, input: { id } })) },
  )
  expect(await at.run({ tools })).toMatchObject({ task: { output: 'Sunny\n[image] It failed: It broke' } })
  expect(asked).toEqual(['first', 'second'].map((id) => [{ name: id, arguments: { id } }, false]))
})
