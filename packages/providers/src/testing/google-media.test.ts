import { describe, expect, it } from 'vitest'
import { fakeGoogle } from './fake-google.js'
import { googleRefusal } from './google-rules.js'

const contents = [{ role: 'user', parts: [{ text: 'A cat' }] }]
const refusal = (model: string, generationConfig: object, fields: object = {}) =>
  googleRefusal(model, { contents, generationConfig, ...fields })
const speaking = (voiceName: string, fields: object = {}) => ({
  responseModalities: ['AUDIO'],
  speechConfig: { voiceConfig: { prebuiltVoiceConfig: { voiceName } } },
  ...fields,
})

const flash = 'gemini-2.5-flash-image'
const flash3 = 'gemini-3.1-flash-image-preview'
const pro3 = 'gemini-3-pro-image-preview'
const tts = 'gemini-2.5-flash-preview-tts'

interface Part {
  text?: string
  thought?: boolean
  inlineData?: { mimeType: string; data: string }
}

interface Answer {
  candidates: { content: { parts: Part[] }; finishReason?: string }[]
  usageMetadata: Record<string, unknown>
}

async function send(method: string, body: object): Promise<string> {
  const { signal } = new AbortController()
  const answer = await fakeGoogle().transport({
    url: `http://fake/v1beta/models/${method}`,
    method: 'POST',
    headers: { 'x-goog-api-key': 'any' },
    body: JSON.stringify(body),
    signal,
  })
  let text = ''
  for await (const piece of answer.body) text += new TextDecoder().decode(piece)
  return text
}

const ask = async (model: string, generationConfig: object, fields: object = {}): Promise<Answer> =>
  JSON.parse(await send(`${model}:generateContent`, { contents, generationConfig, ...fields })) as Answer

const partsOf = async (...given: Parameters<typeof ask>) => (await ask(...given)).candidates[0]!.content.parts

describe('Google takes', () => {
  it.each<[model: string, generationConfig: object]>([
    [flash, {}],
    [flash, { responseModalities: ['IMAGE'], imageConfig: { aspectRatio: '21:9' } }],
    [flash, { responseModalities: ['IMAGE', 'TEXT'] }],
    [flash3, { imageConfig: { imageSize: '512' } }],
    [pro3, { imageConfig: { aspectRatio: '9:16', imageSize: '4K' } }],
    [tts, { responseModalities: ['AUDIO'] }],
    [tts, speaking('Kore')],
    ['gemini-2.5-pro-preview-tts', speaking('Zubenelgenubi', { temperature: 1 })],
    ['gemini-2.5-flash', { responseModalities: ['TEXT'] }],
  ])('%s with %j', (model, config) => expect(refusal(model, config)).toBeUndefined())
})

describe('Google refuses', () => {
  const onlyAudio = `models/${tts} accepts the following combination of response modalities:\n* AUDIO\n`
  it.each<[model: string, generationConfig: object, message: string]>([
    [tts, {}, `The requested combination of response modalities (TEXT) is not supported by the model. ${onlyAudio}`],
    [tts, { responseModalities: ['AUDIO', 'TEXT'] }, `(AUDIO, TEXT) is not supported by the model. ${onlyAudio}`],
    [
      'gemini-2.5-flash',
      { responseModalities: ['IMAGE'] },
      'response modalities (IMAGE) is not supported by the model',
    ],
    [
      'gemini-2.5-flash',
      { responseModalities: ['AUDIO'] },
      'response modalities (AUDIO) is not supported by the model',
    ],
    [flash, { responseModalities: ['AUDIO'] }, '* TEXT, IMAGE\n* IMAGE\n* TEXT\n'],
    [flash, { responseModalities: ['image'] }, "Invalid value at 'generation_config.response_modalities[0]'"],
    [flash, { responseModalities: 'IMAGE' }, "Invalid value at 'generation_config.response_modalities'"],
    [flash, { imageConfig: { aspectRatio: '7:4' } }, 'image_config.aspect_ratio: aspect_ratio must be one of 1:1, 1:4'],
    [flash, { imageConfig: { imageSize: '1K' } }, `Image size is not supported for models/${flash}.`],
    [pro3, { imageConfig: { imageSize: '1k' } }, 'image_size must be one of 512, 1K, 2K, 4K.'],
    [pro3, { imageConfig: { imageSize: '512' } }, `Image size 512 is not supported for models/${pro3}.`],
    [
      flash,
      { imageConfig: { personGeneration: 'x' } },
      `Invalid JSON payload received. Unknown name "personGeneration" at 'generation_config.image_config': Cannot find`,
    ],
    ['gemini-2.5-flash', { imageConfig: {} }, 'Image config is not supported for models/gemini-2.5-flash.'],
    [flash, { candidateCount: 2 }, `Multiple candidates is not enabled for models/${flash}`],
    [flash, { responseMimeType: 'application/json' }, `JSON mode is not enabled for models/${flash}`],
    [tts, speaking('alloy'), 'Voice name alloy is not supported. Allowed voice names are: Zephyr, Puck, Charon'],
    [
      tts,
      speaking('Kore', { speechConfig: { voice: 'x' } }),
      `Unknown name "voice" at 'generation_config.speech_config'`,
    ],
    [
      tts,
      speaking('Kore', { speechConfig: { voiceConfig: { name: 'x' } } }),
      `Unknown name "name" at 'generation_config.speech_config.voice_config'`,
    ],
    [
      tts,
      speaking('Kore', { speechConfig: { voiceConfig: { prebuiltVoiceConfig: { name: 'x' } } } }),
      `Unknown name "name" at 'generation_config.speech_config.voice_config.prebuilt_voice_config'`,
    ],
  ])('%s with %j', (model, config, message) => expect(refusal(model, config)).toContain(message))

  it.each<[what: string, model: string, fields: object, message: string]>([
    ['functions', flash, { tools: [{ functionDeclarations: [{ name: 'f' }] }] }, 'Function calling is not enabled'],
    ['functions', tts, { tools: [{ functionDeclarations: [{ name: 'f' }] }] }, 'Function calling is not enabled'],
    ['instructions', tts, { systemInstruction: { parts: [{ text: 'x' }] } }, 'Developer instruction is not enabled'],
    [
      'anything but text',
      tts,
      { contents: [{ role: 'user', parts: [{ text: 'x' }, { inlineData: { mimeType: 'image/png', data: 'AA==' } }] }] },
      '* GenerateContentRequest.contents[0].parts[1]: only text is supported.',
    ],
  ])('%s of %s', (_, model, fields, message) =>
    expect(refusal(model, model === tts ? speaking('Kore') : {}, fields)).toContain(message),
  )

  it('accepts instructions and images for an image model', () => {
    const image = { inlineData: { mimeType: 'image/png', data: 'AA==' } }
    const fields = { systemInstruction: { parts: [{ text: 'x' }] }, contents: [{ role: 'user', parts: [image] }] }
    expect(refusal(flash, {}, fields)).toBeUndefined()
  })
})

describe('the fake Google generates', () => {
  const image = { inlineData: { mimeType: 'image/png', data: expect.stringMatching(/^iVBORw0KGgo/) as string } }
  const signed = { thoughtSignature: 'c2lnbmF0dXJl' }

  it('an image, and text on request or by default', async () => {
    const { candidates, usageMetadata } = await ask(flash, { responseModalities: ['IMAGE'] })
    expect(candidates).toEqual([{ content: { parts: [image], role: 'model' }, finishReason: 'STOP', index: 0 }])
    expect(usageMetadata).toMatchObject({
      candidatesTokenCount: 1_290,
      candidatesTokensDetails: [{ modality: 'IMAGE', tokenCount: 1_290 }],
      totalTokenCount: 1_290 + (usageMetadata['promptTokenCount'] as number),
    })
    expect(await partsOf(flash, {})).toEqual([{ text: 'Here is a simulated image.' }, image])
    expect(await partsOf(flash, { responseModalities: ['TEXT'] })).toEqual([
      { text: 'This is a simulated answer. You said: A cat' },
    ])
  })

  it('a draft of it first, as a thought, with Gemini 3 Pro', async () => {
    const { candidates, usageMetadata } = await ask(pro3, { responseModalities: ['IMAGE'] })
    const [draft, final] = candidates[0]!.content.parts
    expect(draft).toEqual({ ...image, thought: true })
    expect(final).toEqual({ ...image, ...signed })
    expect(draft!.inlineData).not.toEqual(final!.inlineData)
    expect(usageMetadata).toMatchObject({ candidatesTokenCount: 1_290, thoughtsTokenCount: 5 })
    expect(await partsOf(flash3, { responseModalities: ['IMAGE'] })).toEqual([{ ...image, ...signed }])
  })

  it('in a stream as well', async () => {
    const text = await send(`${flash}:streamGenerateContent?alt=sse`, { contents })
    const events = text.split('\r\n\r\n').slice(0, -1)
    const parts = events.map((event) => (JSON.parse(event.slice(6)) as Answer).candidates[0]!.content.parts)
    const words = ['Here', ' is', ' a', ' simulated', ' image.'].map((word) => [{ text: word }])
    expect(parts).toEqual([...words, [image], [{ text: '' }]])
  })
})

describe('the fake Google synthesises', () => {
  it('a second of silence', async () => {
    const { candidates, usageMetadata } = await ask(tts, speaking('Kore'))
    const [{ inlineData }] = candidates[0]!.content.parts as [Required<Part>]
    expect(inlineData.mimeType).toBe('audio/L16;codec=pcm;rate=24000')
    expect(Buffer.from(inlineData.data, 'base64').equals(Buffer.alloc(48_000))).toBe(true)
    expect(usageMetadata).toMatchObject({
      candidatesTokenCount: 25,
      candidatesTokensDetails: [{ modality: 'AUDIO', tokenCount: 25 }],
    })
  })
})

describe('the fake Google transcribes', () => {
  it('the audio of a chat', async () => {
    const audio = { inlineData: { mimeType: 'audio/mp3', data: 'AAAA' } }
    const heard = { contents: [{ role: 'user', parts: [{ text: 'Transcribe' }, audio] }] }
    expect(await partsOf('gemini-2.5-flash', {}, heard)).toEqual([
      { text: 'This is a simulated transcription of audio/mp3.' },
    ])
  })
})
