/** What of a part of a message has a picture, sound or a file, which are no texts: `messages.0.content.0.image_url.url`. */
const media = new Map([
  ['image_url', 'url'],
  ['input_audio', 'data'],
  ['file', 'file_data'],
])
const isMedia = ([messages, , content, , part = '', field, ...below]: string[]): boolean =>
  below.length === 0 &&
  messages === 'messages' &&
  content === 'content' &&
  field !== undefined &&
  media.get(part) === field
const base64 = /^(?:data:[\w.+/;=-]*;base64,)?[\w+/=-]*$/

/** All texts within a value, with the names of its fields: a model reads those of a schema as well. */
export function textsIn(value: unknown, place: string[] = [], texts = new Set<string>()): Set<string> {
  if (typeof value === 'string') {
    if (!isMedia(place) || !base64.test(value)) texts.add(value)
  } else if (typeof value === 'object' && value !== null)
    for (const [name, item] of Object.entries(value)) {
      if (!Array.isArray(value)) texts.add(name)
      textsIn(item, [...place, name], texts)
    }
  return texts
}
