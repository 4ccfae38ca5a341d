/** Pictures, sound and files, as base64: nothing that a model reads. */
const media = /^(?:data:[\w/+.;=-]{1,100},)?[\w+/-]{1000,}={0,2}$/

/** All texts within a value, with the names of its fields: a model reads those of a schema as well. */
export function textsIn(value: unknown, texts = new Set<string>()): Set<string> {
  if (typeof value === 'string') {
    if (!media.test(value)) texts.add(value)
  } else if (Array.isArray(value)) for (const item of value) textsIn(item, texts)
  else if (typeof value === 'object' && value !== null)
    for (const [name, item] of Object.entries(value)) textsIn(item, texts.add(name))
  return texts
}
