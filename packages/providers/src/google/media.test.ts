import { describe, expect, it } from 'vitest'
import { ask, contentsOf, refusal } from '../../../../test/support/google.js'

const partOf = (part: object) => (contentsOf([{ role: 'user', content: [part] }]) as { parts: object[] }[])[0]!.parts[0]

describe('media', () => {
  const image = (url: string) => ({ type: 'image_url', image_url: { url } })

  it.each([
    [image('data:image/jpg;base64,AA=='), { inlineData: { mimeType: 'image/jpeg', data: 'AA==' } }],
    [image('data:application/pdf;base64,AA=='), { inlineData: { mimeType: 'application/pdf', data: 'AA==' } }],
    [
      { type: 'input_audio', input_audio: { data: 'AA==', format: 'wav' } },
      { inlineData: { mimeType: 'audio/wav', data: 'AA==' } },
    ],
    [
      { type: 'input_audio', input_audio: { data: 'AA==', format: 'mp3' } },
      { inlineData: { mimeType: 'audio/mp3', data: 'AA==' } },
    ],
    [
      { type: 'file', file: { filename: 'a.pdf', file_data: 'data:application/pdf;base64,AA==' } },
      { inlineData: { mimeType: 'application/pdf', data: 'AA==' } },
    ],
    [
      { type: 'video_url', video_url: { url: 'data:video/mp4;base64,AA==' } },
      { inlineData: { mimeType: 'video/mp4', data: 'AA==' } },
    ],
    [
      { type: 'document_url', document_url: 'data:text/plain;base64,AA==' },
      { inlineData: { mimeType: 'text/plain', data: 'AA==' } },
    ],
    [
      { type: 'video_url', video_url: { url: 'https://www.youtube.com/watch?v=1' } },
      { fileData: { fileUri: 'https://www.youtube.com/watch?v=1' } },
    ],
    [image('https://www.YouTube.com?v=1'), { fileData: { fileUri: 'https://www.YouTube.com?v=1' } }],
    [image('https://youtu.be/1'), { fileData: { fileUri: 'https://youtu.be/1' } }],
    [
      { type: 'file', file: { file_id: 'https://generativelanguage.googleapis.com/v1beta/files/a' } },
      { fileData: { fileUri: 'https://generativelanguage.googleapis.com/v1beta/files/a' } },
    ],
  ])('%j', (part, expected) => {
    expect(partOf(part)).toEqual(expected)
  })

  it('refuses an https image and names the option', () => {
    for (const url of [
      'https://example.com/a.png',
      'https://notyoutube.com/a',
      'https://youtube.com.example/a',
      'https://example.com/?https://generativelanguage.googleapis.com/v1beta/files/a',
      'https://img.youtube.com/vi/a/0.jpg',
      'https://generativelanguage.googleapis.com/a',
    ])
      expect(refusal({ messages: [{ role: 'user', content: [image(url)] }] })).toMatchObject({
        status: 400,
        code: 'unsupported_parameter',
        message: expect.stringContaining('remoteContent') as string,
      })
  })

  it.each([
    image('http://169.254.169.254/'),
    image('http://youtu.be/1'),
    image('file:///etc/passwd'),
    image('gs://bucket/a'),
    image('no url'),
    image('data:text/plain,%ZZ'),
    image('data:image/svg+xml;base64,AA=='),
    image('data:application/zip;base64,AA=='),
    { type: 'file', file: { file_id: 'file-1' } },
    { type: 'file' },
    { type: 'input_audio', input_audio: { data: 'AA==' } },
    { type: 'video' },
    { type: 'document', document: { title: 'x' } },
  ])('refuses %j', (part) => {
    expect(refusal({ messages: [{ role: 'user', content: [part] }] })).toMatchObject({ status: 400 })
  })

  it('reports the dropped cache_control', () => {
    const cache_control = { type: 'ephemeral' }
    const content = [{ type: 'text', text: 'Hi', cache_control }]
    const call = { id: 'x', type: 'function', function: { name: 'f', arguments: '{}' }, cache_control }
    const messages = [
      { role: 'user', content, cache_control },
      { role: 'assistant', tool_calls: [call] },
      { role: 'tool', tool_call_id: 'x', content: [{ type: 'text', text: '1', cache_control }] },
    ]
    const dropped = (fields: Record<string, unknown>) =>
      ask(fields).notes.map(({ field, action }) => `${action} ${field}`)
    expect(dropped({ messages, tools: [{ type: 'function', function: { name: 'f' }, cache_control }] })).toEqual([
      'dropped messages.cache_control',
      'dropped messages.content.cache_control',
      'dropped messages.tool_calls.cache_control',
      'dropped tools.cache_control',
    ])
    expect(dropped({ tools: [{ type: 'function', function: { name: 'f', cache_control } }] })).toEqual([
      'dropped tools.cache_control',
    ])
    expect(dropped({ messages: messages.slice(1), tools: [] })).toContain('dropped messages.content.cache_control')
  })

  it('reports the dropped detail', () => {
    const part = (detail: string) => ({ type: 'image_url', image_url: { url: 'data:image/png;base64,AA==', detail } })
    const notes = (detail: string) => ask({ messages: [{ role: 'user', content: [part(detail)] }] }).notes
    expect(notes('high')).toEqual([{ field: 'messages.content.image_url.detail', action: 'dropped' }])
    expect(notes('auto')).toEqual([])
  })
})
