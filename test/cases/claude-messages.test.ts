import { it } from 'vitest'
import { assistant, call, claudeTool, expectRefused, expectSent, says, tool, user } from './claude.js'

it('collects system and developer messages after the system field', () =>
  expectSent(
    {
      system: 'Zero',
      messages: [
        { role: 'system', content: 'One' },
        { role: 'user', content: 'Hi' },
        { role: 'developer', content: 'Two' },
        { role: 'assistant', content: 'Yes?' },
        { role: 'system', content: 'Three' },
        { role: 'user', content: 'Go on' },
      ],
    },
    {
      system: [says('Zero'), says('One'), says('Two'), says('Three')],
      messages: [user(says('Hi')), assistant(says('Yes?')), user(says('Go on'))],
    },
  ))

it('keeps every part of a system message', () =>
  expectSent(
    {
      messages: [
        { role: 'system', content: [says('One'), says('Two')] },
        { role: 'developer', content: [says('Three'), says('Four')] },
        { role: 'user', content: 'Hi' },
      ],
    },
    { system: [says('One'), says('Two'), says('Three'), says('Four')] },
  ))

it('joins messages of one role', () =>
  expectSent(
    {
      messages: [
        { role: 'user', content: 'a' },
        { role: 'user', content: [says('b'), says('c')] },
        { role: 'assistant', content: [says('d'), says('e')] },
        { role: 'assistant', content: 'f' },
        { role: 'user', content: 'g' },
      ],
    },
    {
      messages: [user(says('a'), says('b'), says('c')), assistant(says('d'), says('e'), says('f')), user(says('g'))],
    },
  ))

const use = (id: string, name: string, input: object = {}) => ({ type: 'tool_use', id, name, input })
const result = (tool_use_id: string, content: string) => ({ type: 'tool_result', tool_use_id, content })
const answers = (tool_call_id: string, content: string) => ({ role: 'tool', tool_call_id, content })
const ask = { role: 'user', content: 'Hi' }
const calls = (...tool_calls: object[]) => ({ role: 'assistant', content: null, tool_calls })

it('puts the results of three calls before the text, in one message', () =>
  expectSent(
    {
      tools: [tool('f'), tool('g')],
      messages: [
        ask,
        calls(call('c1', 'f', '{"x":1}'), call('c2', 'g', '{"y":[2]}'), call('c3', 'f')),
        answers('c3', 'three'),
        answers('c2', 'two'),
        answers('c1', 'one'),
        { role: 'user', content: 'And now?' },
      ],
    },
    {
      tools: [claudeTool('f'), claudeTool('g')],
      messages: [
        user(says('Hi')),
        assistant(use('c1', 'f', { x: 1 }), use('c2', 'g', { y: [2] }), use('c3', 'f')),
        user(result('c3', 'three'), result('c2', 'two'), result('c1', 'one'), says('And now?')),
      ],
    },
  ))

it('omits empty text beside calls', async () => {
  for (const content of ['', ' \n', [says('')]])
    await expectSent(
      {
        tools: [tool('f')],
        messages: [ask, { role: 'assistant', content, tool_calls: [call('c1', 'f')] }, answers('c1', 'one')],
      },
      {
        tools: [claudeTool('f')],
        messages: [user(says('Hi')), assistant(use('c1', 'f')), user(result('c1', 'one'))],
      },
    )
})

it('treats missing arguments as an empty object, and refuses anything but an object', async () => {
  const request = (args: string) => ({
    tools: [tool('f')],
    messages: [ask, calls(call('c1', 'f', args)), answers('c1', 'one')],
  })
  await expectSent(request(''), {
    tools: [claudeTool('f')],
    messages: [user(says('Hi')), assistant(use('c1', 'f', {})), user(result('c1', 'one'))],
  })
  for (const args of ['[1]', '{bad']) await expectRefused(request(args), 'The arguments of "f" are no JSON object')
})

it('changes the id of a call and of its result alike', () =>
  expectSent(
    { tools: [tool('f')], messages: [ask, calls(call('call.1:2/3', 'f')), answers('call.1:2/3', 'one')] },
    {
      tools: [claudeTool('f')],
      messages: [user(says('Hi')), assistant(use('call_1_2_3', 'f')), user(result('call_1_2_3', 'one'))],
    },
  ))

it('refuses a result without a call, and names it', async () => {
  const message = 'No tool call "c2" waits for a result'
  await expectRefused({ tools: [tool('f')], messages: [ask, calls(call('c1', 'f')), answers('c2', 'two')] }, message)
  await expectRefused({ tools: [tool('f')], messages: [ask, answers('c2', 'two'), calls(call('c2', 'f'))] }, message)
})

const shows = (url: string) => ({
  messages: [{ role: 'user', content: [says('What is this?'), { type: 'image_url', image_url: { url } }] }],
})

it('accepts images as data URLs and https URLs', async () => {
  const sees = (source: object) => ({ messages: [user(says('What is this?'), { type: 'image', source })] })
  await expectSent(
    shows('data:image/jpg;base64,/9j/4AAQ'),
    sees({ type: 'base64', media_type: 'image/jpeg', data: '/9j/4AAQ' }),
  )
  await expectSent(
    shows('https://images.example/a.png?b=c'),
    sees({ type: 'url', url: 'https://images.example/a.png?b=c' }),
  )
  await expectRefused(
    shows('data:image/svg+xml;base64,PHN2Zy8+'),
    'Claude does not take image/svg+xml content',
    'unsupported_parameter',
  )
  for (const url of ['http://169.254.169.254/latest/meta-data/', 'file:///etc/passwd'])
    await expectRefused(shows(url), 'Only https and data URLs are accepted')
})

it('accepts a PDF, with its name', () =>
  expectSent(
    {
      messages: [
        {
          role: 'user',
          content: [
            { type: 'file', file: { filename: 'report.pdf', file_data: 'data:application/pdf;base64,JVBERi0xLjQK' } },
            says('Sum it up'),
          ],
        },
      ],
    },
    {
      messages: [
        user(
          {
            type: 'document',
            source: { type: 'base64', media_type: 'application/pdf', data: 'JVBERi0xLjQK' },
            title: 'report.pdf',
          },
          says('Sum it up'),
        ),
      ],
    },
  ))

it('refuses audio', () =>
  expectRefused(
    {
      messages: [
        {
          role: 'user',
          content: [says('Hear'), { type: 'input_audio', input_audio: { data: 'UklGRg==', format: 'wav' } }],
        },
      ],
    },
    'Claude does not take input_audio content',
    'unsupported_parameter',
  ))
