type Json = Record<string, unknown>

const isObject = (value: unknown): value is Json => typeof value === 'object' && value !== null

const schemeOf = (part: Json): string => {
  const { url } = (part['image_url'] ?? {}) as { url?: string }
  return url === undefined ? '' : ` by ${url.slice(0, url.indexOf(':'))}`
}

function* kindsOfMessage(message: Json, middle: boolean): Generator<string> {
  const { role, content, tool_calls } = message
  yield `${String(role)} message`
  if (role === 'developer' && middle) yield 'developer message in the middle'
  if (content === null) yield `${String(role)} without content`
  if (Array.isArray(content))
    for (const part of content as Json[]) yield `${String(part['type'])} of ${String(role)}${schemeOf(part)}`
  for (const field of ['name', 'refusal', 'function_call'])
    if (message[field]) yield `field ${field} of ${String(role)}`
  if (!Array.isArray(tool_calls)) return
  yield tool_calls.length > 1 ? 'calls at once' : 'a call'
  if ((tool_calls[0] as Json)['custom']) yield 'a custom call'
  if ((tool_calls[0] as Json)['extra_content']) yield 'a signature'
  if ((tool_calls as Json[]).some(({ id }) => (id as string).length > 40)) yield 'a long id'
}

function* kindsOfTool({ function: definition, cache_control }: Json): Generator<string> {
  if (!definition) return yield 'a custom tool'
  const { parameters, strict } = definition as Json
  yield parameters ? 'a tool with parameters' : 'a tool without parameters'
  if (strict === true) yield 'a strict tool'
  if (cache_control) yield 'a cached tool'
}

/** What is in a request, in words, so that a test can say that nothing was left out. */
export function* kindsOf(request: Json): Generator<string> {
  for (const [field, value] of Object.entries(request))
    if (value === null) yield 'null for a field'
    else if (value !== undefined) yield field
  const { messages, tools, tool_choice, function_call, response_format, reasoning_effort, stop } = request
  const all = messages as Json[]
  for (const [i, message] of all.entries()) yield* kindsOfMessage(message, i > 0 && i < all.length - 1)
  if (Array.isArray(tools)) for (const tool of tools as Json[]) yield* kindsOfTool(tool)
  if (tool_choice) yield `tool_choice ${String(isObject(tool_choice) ? tool_choice['type'] : tool_choice)}`
  if (function_call) yield `function_call ${isObject(function_call) ? 'by name' : (function_call as string)}`
  if (isObject(response_format)) yield `response_format ${String(response_format['type'])}`
  if (reasoning_effort) yield `reasoning_effort ${reasoning_effort as string}`
  if (Array.isArray(stop)) yield 'a list of stops'
  if (JSON.stringify(messages).includes('"cache_control"')) yield 'a cached part'
}
