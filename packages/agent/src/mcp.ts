import type { JsonSchema, Tool } from './tools.js'

/** What is needed of a client of the Model Context Protocol that is connected: `Client` of `@modelcontextprotocol/sdk` has it. */
export interface McpClient {
  listTools(params?: { cursor?: string }): Promise<{
    tools: { name: string; description?: string | undefined; inputSchema: JsonSchema }[]
    nextCursor?: string | undefined
  }>
  callTool(
    params: { name: string; arguments: Record<string, unknown> },
    schema?: undefined,
    options?: { signal: AbortSignal; timeout: number },
  ): Promise<Record<string, unknown>>
}

interface Content {
  type: string
  text?: string
}

/** Tools of one server at most: a model gets the definitions of all with each request. */
const MOST_TOOLS = 1_000

/** Pages of one list of tools at most. */
const MOST_PAGES = 100

/** Characters that the definition of a tool may have, as JSON. */
const DEFINITION_LENGTH = 64 * 1024

/** Characters that the definitions of one server may have together: each request of a run has them all, and is paid for. */
const DEFINITIONS_LENGTH = 256 * 1024

/** Objects and lists within each other that a definition may have: gateways and providers refuse deeper requests. */
const DEFINITION_DEPTH = 32

type ListedTool = Awaited<ReturnType<McpClient['listTools']>>['tools'][number]

const isObject = (value: unknown): boolean => typeof value === 'object' && value !== null && !Array.isArray(value)

/** Whether a request with a tool is one that providers take: otherwise one tool of a server would end every run. What a server says is not checked by every client. */
function isUsable(tool: ListedTool | null, prefix: string): tool is ListedTool {
  const { name, description = '', inputSchema: schema } = tool ?? {}
  if (typeof name !== 'string' || name === '' || !/^[\w-]{1,64}$/.test(prefix + name)) return false
  if (typeof description !== 'string' || schema?.type !== 'object') return false
  const { properties = {}, required = [] } = schema
  if (!isObject(properties) || !Array.isArray(required) || required.some((one) => typeof one !== 'string')) return false
  let text: string
  try {
    text = JSON.stringify({ description, schema })
  } catch {
    // Nested so deeply that there is no stack for it.
    return false
  }
  if (text.length > DEFINITION_LENGTH) return false
  let depth = 0
  for (const c of text.replaceAll(/"(?:[^"\\]|\\.)*"|[^{}[\]]/g, '')) {
    depth += c === '{' || c === '[' ? 1 : -1
    if (depth > DEFINITION_DEPTH) return false
  }
  return true
}

/** Milliseconds that a timer takes at most: `seconds` of the tool limits a call, rather than the minute of the SDK. */
const UNLIMITED_MS = 2 ** 31 - 1

/**
 * The tools of an MCP server, as it lists them now, without those that providers do not take: whose arguments are no object, whose name with the prefix is
 * none of a {@link Tool}, or whose definition is longer than 64 Ki characters or deeper than 32 levels. Texts of results are told to the model; of other content, its type.
 * @param options.prefix begins the names, so that those of several servers differ; default none
 * @throws what the client throws, and an Error where the server lists more than a thousand tools or a hundred pages, or definitions of more than 256 Ki characters together
 * @example const tools = await mcpTools(mcpClient, { prefix: 'files_' })
 */
export async function mcpTools(client: McpClient, { prefix = '' }: { prefix?: string } = {}): Promise<Tool[]> {
  const tools: Tool[] = []
  let length = 0
  let cursor: string | undefined
  for (let pages = 1; ; pages++) {
    const page = await client.listTools(cursor === undefined ? {} : { cursor })
    if (pages > MOST_PAGES || tools.length + page.tools.length > MOST_TOOLS)
      throw new Error(`The MCP server lists more than ${MOST_TOOLS} tools or ${MOST_PAGES} pages of them`)
    for (const tool of page.tools) {
      if (!isUsable(tool, prefix)) continue
      const { name, description = '', inputSchema } = tool
      // It is JSON, and no schema that could check anything.
      const { '~standard': _, ...parameters } = inputSchema
      length += JSON.stringify({ description, parameters }).length
      if (length > DEFINITIONS_LENGTH)
        throw new Error(`The tools of the MCP server have more than ${DEFINITIONS_LENGTH} characters together`)
      tools.push({
        name: prefix + name,
        description,
        parameters,
        async run(args, { signal }) {
          const result = await client.callTool({ name, arguments: args as Record<string, unknown> }, undefined, {
            signal,
            timeout: UNLIMITED_MS,
          })
          const content = (result['content'] ?? []) as Content[]
          const text = content.map((part) => part.text ?? `[${part.type}]`).join('\n')
          if (result['isError']) throw new Error(text)
          return text
        },
      })
    }
    cursor = page.nextCursor
    if (cursor === undefined) return tools
  }
}
