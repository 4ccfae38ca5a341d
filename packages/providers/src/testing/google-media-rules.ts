import { isObject } from '@turnpike/core/helpers'
import { known } from './google-fields.js'
import type { Json, Problem } from './rules.js'
import { first, words } from './rules.js'

/** Models that generate images. */
export const isImageModel = (model: string): boolean => /-image(-preview)?$|nano-banana/.test(model)

/** Models that generate speech. */
export const isSpeechModel = (model: string): boolean => /-tts(-preview)?$/.test(model)

const aspectRatios = words('1:1 1:4 4:1 1:8 8:1 2:3 3:2 3:4 4:3 4:5 5:4 9:16 16:9 21:9')
const imageSizes = ['512', '1K', '2K', '4K']

const voices = words(
  `Zephyr Puck Charon Kore Fenrir Leda Orus Aoede Callirrhoe Autonoe Enceladus Iapetus Umbriel Algieba Despina Erinome Algenib Rasalgethi
  Laomedeia Achernar Alnilam Schedar Gacrux Pulcherrima Achird Zubenelgenubi Vindemiatrix Sadachbia Sadaltager Sulafat`,
)

const modalitiesAt = 'generation_config.response_modalities'

/** The combinations of response modalities that a model supports. */
function combinationsOf(model: string): string[][] {
  if (isSpeechModel(model)) return [['AUDIO']]
  return isImageModel(model) ? [['TEXT', 'IMAGE'], ['IMAGE'], ['TEXT']] : [['TEXT']]
}

function checkModalities(modalities: unknown, model: string): Problem {
  // Speech models reject their own default.
  const asked = modalities ?? (isImageModel(model) ? ['TEXT', 'IMAGE'] : ['TEXT'])
  if (!Array.isArray(asked)) return `Invalid value at '${modalitiesAt}'`
  const odd = asked.findIndex((one) => !['TEXT', 'IMAGE', 'AUDIO'].includes(one as string))
  if (odd >= 0)
    return `Invalid value at '${modalitiesAt}[${odd}]' (type.googleapis.com/google.ai.generativelanguage.v1beta.GenerationConfig.Modality), "${String(asked[odd])}"`
  const combinations = combinationsOf(model)
  const same = combinations.some((one) => one.toSorted().join() === asked.toSorted().join())
  return same
    ? undefined
    : `The requested combination of response modalities (${asked.join(', ')}) is not supported by the model. models/${model} accepts the following combination of response modalities:\n${combinations.map((one) => `* ${one.join(', ')}\n`).join('')}`
}

function checkImageConfig(config: unknown, model: string): Problem {
  const at = 'generation_config.image_config'
  const problem = known(config, ['aspectRatio', 'imageSize'], at)
  if (problem || !isObject(config)) return problem
  if (!isImageModel(model)) return `Image config is not supported for models/${model}.`
  const { aspectRatio, imageSize } = config
  if (aspectRatio !== undefined && !aspectRatios.includes(aspectRatio as string))
    return `* GenerateContentRequest.${at}.aspect_ratio: aspect_ratio must be one of ${aspectRatios.join(', ')}.`
  if (imageSize === undefined) return undefined
  if (!imageSizes.includes(imageSize as string))
    return `* GenerateContentRequest.${at}.image_size: image_size must be one of ${imageSizes.join(', ')}.`
  if (!model.startsWith('gemini-3')) return `Image size is not supported for models/${model}.`
  return imageSize === '512' && !model.startsWith('gemini-3.1-flash')
    ? `Image size 512 is not supported for models/${model}.`
    : undefined
}

function checkSpeechConfig(config: unknown): Problem {
  const at = 'generation_config.speech_config'
  const problem = known(config, ['voiceConfig', 'multiSpeakerVoiceConfig', 'languageCode'], at)
  if (problem || !isObject(config)) return problem
  const { voiceConfig } = config
  const unknownField = known(voiceConfig, ['prebuiltVoiceConfig'], `${at}.voice_config`)
  if (unknownField || !isObject(voiceConfig)) return unknownField
  const { prebuiltVoiceConfig: voice } = voiceConfig
  const unknownMember = known(voice, ['voiceName'], `${at}.voice_config.prebuilt_voice_config`)
  if (unknownMember || !isObject(voice)) return unknownMember
  return voices.includes(voice['voiceName'] as string)
    ? undefined
    : `Voice name ${String(voice['voiceName'])} is not supported. Allowed voice names are: ${voices.join(', ')}`
}

/** The media that image models do not take. */
function checkInput(contents: { parts: Json[] }[], model: string): Problem {
  const refused = /gemini-3\.1-flash-image|nano-banana/.test(model) ? /^audio\// : /^(audio|video)\//
  const types = contents.flatMap(({ parts }) =>
    parts.map(({ inlineData }) => (isObject(inlineData) ? String(inlineData['mimeType']) : '')),
  )
  const odd = types.find((type) => refused.test(type))
  return odd && `${odd.replace(/\/.*/, '')} input modality is not enabled for models/${model}`
}

/** The features that image and speech models do not support. */
function checkAbilities({ generationConfig = {}, tools, systemInstruction, contents }: Json, model: string): Problem {
  if (!isImageModel(model) && !isSpeechModel(model)) return undefined
  const { candidateCount = 1, responseMimeType } = generationConfig as Json
  if (candidateCount !== 1) return `Multiple candidates is not enabled for models/${model}`
  if (responseMimeType === 'application/json') return `JSON mode is not enabled for models/${model}`
  if (((tools ?? []) as Json[]).some((tool) => tool['functionDeclarations']))
    return `Function calling is not enabled for models/${model}`
  if (!isSpeechModel(model)) return checkInput(contents as { parts: Json[] }[], model)
  if (systemInstruction !== undefined) return `Developer instruction is not enabled for models/${model}`
  return first(contents as { parts: Json[] }[], ({ parts }, i) =>
    first(parts, (part, k) =>
      part['text'] === undefined
        ? `* GenerateContentRequest.contents[${i}].parts[${k}]: only text is supported.`
        : undefined,
    ),
  )
}

/** Validates the image and speech parts of a request; undefined if valid. */
export function checkMedia(body: Json, model: string): Problem {
  const { responseModalities, imageConfig, speechConfig } = (body['generationConfig'] ?? {}) as Json
  return (
    checkModalities(responseModalities, model) ??
    checkAbilities(body, model) ??
    checkImageConfig(imageConfig, model) ??
    checkSpeechConfig(speechConfig)
  )
}
