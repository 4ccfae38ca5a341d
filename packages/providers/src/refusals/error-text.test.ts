import { describe, expect, it } from 'vitest'
import { errorText } from './error-text.js'

describe('the text of an error', () => {
  it.each<[of: string, body: unknown, text: string | undefined]>([
    ['OpenAI', { error: { message: 'No', type: 'invalid_request_error', param: null, code: null } }, 'No'],
    ['vLLM and SGLang', { object: 'error', message: 'No', type: 'BadRequestError', param: null, code: 400 }, 'No'],
    ['FastAPI', { detail: 'No' }, 'No'],
    ['FastAPI, an object', { detail: { error: { message: 'No' } } }, 'No'],
    [
      'FastAPI, a list',
      { detail: [{ type: 'missing', loc: ['body', 'messages', 0, 'role'], msg: 'Field required', input: 'SECRET' }] },
      'messages.0.role: Field required',
    ],
    [
      'FastAPI, of the whole body',
      {
        detail: [
          { loc: ['body'], msg: 'Invalid JSON' },
          { loc: ['query', 'x'], msg: 'Bad' },
        ],
      },
      'Invalid JSON; query.x: Bad',
    ],
    [
      'Mistral',
      {
        object: 'error',
        message: { detail: [{ loc: ['body', 'n'], msg: 'Too many' }] },
        type: 'invalid_request_error',
      },
      'n: Too many',
    ],
    ['Ollama', { error: 'model "x" not found' }, 'model "x" not found'],
    ['TGI', { error: 'Input validation error', error_type: 'validation' }, 'Input validation error'],
    ['xAI', { code: 'Client specified an invalid argument', error: 'No such field' }, 'No such field'],
    ['Cohere and AWS', { message: 'too many tokens' }, 'too many tokens'],
    ['AWS, capital', { Message: 'No' }, 'No'],
    [
      'NestJS and Fastify',
      { statusCode: 400, error: 'Bad Request', message: ['a is missing', 'b is wrong'] },
      'a is missing; b is wrong',
    ],
    [
      'Cloudflare',
      { success: false, errors: [{ code: 5007, message: 'No such model' }], messages: [] },
      'No such model',
    ],
    [
      'RFC 9457',
      { type: 'about:blank', title: 'Bad Request', status: 400, detail: 'n is too large' },
      'n is too large',
    ],
    ['RFC 9457 without detail', { title: 'Bad Request', status: 400 }, 'Bad Request'],
    ['MiniMax', { base_resp: { status_code: 2013, status_msg: 'invalid params' } }, 'invalid params'],
    ['Baidu', { error_code: 336103, error_msg: 'Prompt tokens too long' }, 'Prompt tokens too long'],
    ['Claude', { type: 'error', error: { type: 'invalid_request_error', message: 'No' } }, 'No'],
    ['Gemini, a list', [{ error: { code: 400, message: 'No', status: 'INVALID_ARGUMENT' } }], 'No'],
    [
      'OpenRouter',
      {
        error: {
          code: 400,
          message: 'Provider returned error',
          metadata: { raw: '{"error":{"message":"Too long"}}', provider_name: 'x' },
        },
      },
      'Provider returned error: Too long',
    ],
    ['JSON in a text', { detail: '{"error":{"message":"No"}}' }, 'No'],
    [
      'nginx',
      '<html>\r\n<head><title>413 Request Entity Too Large</title></head>\r\n<body>\r\n<center><h1>413</h1></center></body></html>',
      '413 Request Entity Too Large',
    ],
    [
      'a page without a title',
      '<!doctype html><style>h1 { color: red }</style><h1>No</h1>\n<p>At all</p>',
      'No At all',
    ],
    ['S3', '<?xml version="1.0"?><Error><Code>AccessDenied</Code><Message>No</Message></Error>', 'AccessDenied No'],
    [
      'axum',
      'Failed to deserialize the JSON body: missing field `messages`\n',
      'Failed to deserialize the JSON body: missing field `messages`',
    ],
    ['text that begins as JSON', '{"error": "cut of', '{"error": "cut of'],
    ['OAuth', { error: 'invalid_request', error_description: 'No' }, 'No'],
    ['Rails', { errors: { model: ['is bad', 'is old'], n: ['is large'] } }, 'model: is bad; is old; n: is large'],
    ['marshmallow', { errors: { json: { stream_options: ['Unknown field.'] } } }, 'stream_options: Unknown field.'],
    ['ASP.NET', { title: 'Bad Request', status: 400, errors: { model: ['No'] } }, 'model: No'],
    ['zod', { error: { issues: [{ code: 'custom', path: ['n'], message: 'Bad' }], name: 'ZodError' } }, 'n: Bad'],
    ['Writer', { errors: [{ description: 'Bad thing' }] }, 'Bad thing'],
    ['Apigee', { fault: { faultstring: 'Bad thing', detail: { errorcode: 'x' } } }, 'Bad thing'],
    ['Spark', { header: { code: 10_013, message: 'Bad thing', sid: 'x' } }, 'Bad thing'],
    ['Tencent', { Response: { Error: { Code: 'InvalidParameter', Message: 'Bad thing' } } }, 'Bad thing'],
    ['Azure', { error: { code: 'BadRequest', details: [{ message: 'Bad thing' }] } }, 'Bad thing'],
    ['others', { err: { msg: 'Bad thing' } }, 'Bad thing'],
    ['lists that are none of an error', { messages: ['SECRET'], errors: {} }, undefined],
    ['nobody', { error: { message: '', code: 5 } }, undefined],
    ['nothing', '', undefined],
    ['no text', [null, 5, true, {}], undefined],
  ])('of %s', (_, body, text) => expect(errorText(body)).toBe(text))

  it('is not looked for without end', () => {
    let deep: unknown = 'No'
    for (let i = 0; i < 20_000; i++) deep = { error: deep }
    expect(errorText(deep)).toBeUndefined()
    expect(errorText(Array.from({ length: 100 }, () => 'x'))).toHaveLength(28)
    const nested = (levels: number): unknown => (levels === 0 ? 'x'.repeat(500) : Array(10).fill(nested(levels - 1)))
    expect(errorText(nested(3))).toHaveLength(4_000)
    const json = (length: number) => JSON.stringify({ message: 'x'.repeat(length) })
    expect(errorText({ message: json(50_000) })).toBe('x'.repeat(4_000))
    expect(errorText({ message: json(70_000) })).toBe(json(70_000).slice(0, 4_000))
  })
})
