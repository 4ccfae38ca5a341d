import { describe, expect, it } from 'vitest'
import { scrub } from './scrub.js'

describe('scrub', () => {
  it('reads the first 10,000 characters', () => {
    expect(scrub('a '.repeat(1e6))).toBe('a '.repeat(5_000))
  })

  it.each([
    ['Incorrect API key provided: sk-proj-abc123XYZ_-.', 'Incorrect API key provided: [redacted]'],
    ['key sk-ab***********wxyz is wrong', 'key [redacted] is wrong'],
    ['key AIzaSyA-1234567890abcdef is wrong', 'key [redacted] is wrong'],
    ['gw-0123456789abcdef', '[redacted]'],
    ['sent Bearer abc.def.ghi twice', 'sent [redacted] twice'],
    ['in organization org-AbCdEf123456 on tokens', 'in organization [redacted] on tokens'],
    ['project proj-123456 ended', 'project [redacted] ended'],
    ['see https://platform.openai.com/account?x=1 now', 'see [redacted] now'],
    ['sk-aaaaaaaa and sk-bbbbbbbb', '[redacted] and [redacted]'],
    ['at postgres://app:hunter2@db.internal/x refused', 'at [redacted] refused'],
    ['at redis://10.0.0.1, or amqp://mq', 'at [redacted], or [redacted]'],
    ['backend 10.1.2.3:8080 (vllm-7.internal.corp.local) is down', 'backend [redacted] ([redacted]) is down'],
    ['connect ECONNREFUSED ::1:8000 or fe80::1%eth0', 'connect ECONNREFUSED [redacted] or [redacted]'],
    ['worker-3:8000 and localhost:11434/v1', '[redacted] and [redacted]'],
    ['ask ops@example.org at api.example.com.', 'ask [redacted] at [redacted]'],
    ['AKIAIOSFODNN7EXAMPLE ghp_abcdefghijklmnop', '[redacted] [redacted]'],
    ['xoxb-1234567890 hf_abcdefghij github_pat_11ABCDE glpat-xxxxxxxx', '[redacted] [redacted] [redacted] [redacted]'],
    ['eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.abc', '[redacted]'],
    ['Basic dXNlcjpwYXNzd29yZA== is wrong', '[redacted] is wrong'],
    ['password=hunter2 "api_key": "abcdef"', '[redacted] "[redacted]'],
    ['sent {"authorization":"Bearer abcdef","x":1} twice', 'sent {"[redacted] twice'],
    [String.raw`sent {\"api-key\": \"abcdef\"}`, String.raw`sent {\"[redacted]`],
    ['wJalrXUtnFEMI/K7MDENG/bPxRfi0Y given', '[redacted] given'],
    ['digest 0123456789abcdef0123456789abcdef', 'digest [redacted]'],
    ['Incorrect API key provided: 0123456789abcdef0123456789abcdef.', 'Incorrect API key provided: [redacted]'],
    ['/srv/models/secret is no file', '[redacted] is no file'],
    ['C:\\models\\a.bin', '[redacted]'],
    ['D:/models/a.bin', '[redacted]'],
    ['cannot open file=/srv/models/x, ~/models/x, ../models/x', 'cannot open [redacted], [redacted], [redacted]'],
    [String.raw`cannot open \\nas01\share\m.gguf`, 'cannot open [redacted]'],
    ['gpu7.prod.internal/v1 is down', '[redacted] is down'],
    ['client_secret=abcd PGPASSWORD=abcd', '[redacted] [redacted]'],
    ['DB_PASS=abcd AccountKey=abcd; passphrase: abcd', '[redacted] [redacted] [redacted]'],
    ['sv=2022&sig=abc%2F refresh_token: abcd', 'sv=2022&[redacted] [redacted]'],
    ['project_number:123456789012 projects/123', '[redacted] [redacted]'],
    ['Project secret-project-1 (number 123456789012) ended', 'Project [redacted] (number [redacted]) ended'],
    ['account 123456789012 is over its quota', 'account [redacted] is over its quota'],
    [
      'in subscription 11111111-2222-3333-4444-555555555555 resource group rg-prod.',
      'in subscription [redacted] resource group [redacted]',
    ],
    ['identifier arn:aws:bedrock:us-east-1:123456789012:inference-profile/a1b2c3 is', 'identifier [redacted] is'],
  ])('hides secrets: %s', (text, clean) => expect(scrub(text)).toBe(clean))

  it.each([
    "This model's maximum context length is 8192 tokens.",
    "Unsupported parameter: 'max_tokens'",
    "Invalid value: 'x'. messages[0].content[1].image_url.url: expected a URL",
    'messages.0.content.1.image.source.base64.data: invalid base64 data',
    'tools.0.custom.input_schema.type: Field required',
    "Invalid schema for function 'get_weather': In context=('properties', 'city'), 'type' is missing",
    'The model `claude-3-5-sonnet-20241022` or `gemini-2.5-flash-preview-tts` does not exist',
    'models/gemini-9 is not found for API version v1beta, meta-llama/Llama-3.3-70B-Instruct-Turbo either',
    'did not have response messages: call_AbCdEf0123456789AbCdEf01',
    'This is not a chat model and not supported in the /v1/chat/completions endpoint.',
    'prompt is too long: 210000 tokens > 200000 maximum; max_tokens: 4096, token: 3',
    'The checks did not pass: n is too large; invalid_token: it has expired',
    'image/svg+xml at 12:30, ratio 16:9, e.g. a/b',
    'no tool call getUserByIdV2FromDatabase waits',
    'task-force, desk-bound, risk-averse: all fine',
    'In this project 30 requests are allowed, your account = 3, and the organization may use gpt-4o-mini',
    '',
  ])('leaves other text: %s', (text) => expect(scrub(text)).toBe(text))
})
