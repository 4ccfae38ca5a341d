// One call with a whole response and one with a stream: node main.mjs [anthropic | google | openai] [question]
const [family = 'anthropic', question = 'Why is the sky blue?'] = process.argv.slice(2)
const families = {
  anthropic: { key: 'ANTHROPIC_API_KEY', model: 'claude-sonnet-4-5', fake: 'fakeAnthropic', path: '' },
  google: { key: 'GEMINI_API_KEY', model: 'gemini-2.5-flash', fake: 'fakeGoogle', path: '/v1beta' },
  openai: { key: 'OPENAI_API_KEY', model: 'gpt-4o-mini', fake: 'fakeOpenAI', path: '/v1' },
}
const { key, model, fake, path } = families[family]
const { [family]: connect } = await import(`@turnpike/providers/${family}`)

// Without an API key, the call goes to a simulated upstream on this machine.
const apiKey = process.env[key]
const simulated = apiKey
  ? undefined
  : await (await import('@turnpike/providers/testing'))[fake]({ delayMs: 30 }).listen()
const provider = connect(simulated ? { apiKey: 'simulated', baseURL: simulated.url + path } : { apiKey })

const request = { model, messages: [{ role: 'user', content: question }] }
const call = { signal: AbortSignal.timeout(60_000) }

const { choices, usage } = await provider.chat.complete(request, call)
console.log(`whole:    ${choices[0].message.content} (${usage.total_tokens} tokens)`)

process.stdout.write('streamed: ')
const stream = await provider.chat.stream({ ...request, stream: true }, call)
for await (const batch of stream.batches) for (const { delta } of batch) process.stdout.write(delta.content ?? '')
console.log(` (${stream.usage().total_tokens} tokens)`)

await simulated?.close()
