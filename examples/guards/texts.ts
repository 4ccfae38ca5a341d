/** Where a request has pictures, sound and files, which are no texts. */
const media = /^messages\.\d+\.content\.\d+\.(?:image_url\.url|input_audio\.data|file\.file_data)$/
const base64 = /^(?:data:[\w.+/;=-]*;base64,)?[\w+/=-]*$/

/** All texts within a value, with the names of its fields: a model reads those of a schema as well. */
export function textsIn(value: unknown, place: string[] = [], texts = new Set<string>()): Set<string> {
  if (typeof value === 'string') {
    if (!media.test(place.join('.')) || !base64.test(value)) texts.add(value)
  } else if (typeof value === 'object' && value !== null)
    for (const [name, item] of Object.entries(value)) {
      if (!Array.isArray(value)) texts.add(name)
      textsIn(item, [...place, name], texts)
    }
  return texts
}
