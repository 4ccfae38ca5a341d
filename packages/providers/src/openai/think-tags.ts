/** The tags between which models put their thoughts: most open ones; Magistral; Kimi k1.5; Seed-OSS; Command A Reasoning. */
const TAGS: [open: string, close: string][] = [
  ['<think>', '</think>'],
  ['<thinking>', '</thinking>'],
  ['<thought>', '</thought>'],
  ['<reasoning>', '</reasoning>'],
  ['[THINK]', '[/THINK]'],
  ['◁think▷', '◁/think▷'],
  ['<seed:think>', '</seed:think>'],
  ['<|START_THINKING|>', '<|END_THINKING|>'],
]

/** Most blanks that are held back: before the first tag, and before a closing one. */
const BLANKS = 64

/** Length of the longest end of a text with which `tag` begins: the rest of the tag may follow. */
function begunAt(text: string, tag: string): number {
  for (let length = Math.min(tag.length - 1, text.length); length > 0; length--)
    if (tag.startsWith(text.slice(-length))) return length
  return 0
}

/** The thoughts at the beginning of one content, which comes in pieces. */
export interface ThinkTags {
  /** Moves the thoughts of a message or delta from `content` to `reasoning_content`. What may be part of a tag is held back until the next one. */
  separate(fields: Record<string, unknown>): void
  /** Adds what was held back to the last message or delta. */
  end(fields: Record<string, unknown>): void
}

/**
 * Separates thoughts from a content. Tags count at its beginning only, and after other thoughts: an answer may be about them.
 * @param given `open` = the content begins within thoughts
 */
export function thinkTags(given: true | 'open'): ThinkTags {
  /** Where the content is: before its first character, within a thought, or after the thoughts. */
  let state: 'before' | 'thought' | 'text' = 'before'
  /** What a content is that begins without a tag. Where the prompt has the tag, some models say it all the same. */
  let untagged: 'thought' | 'text' = given === 'open' ? 'thought' : 'text'
  let close = TAGS[0]![1]
  let held = ''
  /** Whether nothing has come since a tag: blanks that follow it are part of nothing. */
  let afterTag = given === 'open'

  /** Reads a piece. @returns its thoughts and its text */
  const read = (piece: string): [thoughts: string, text: string] => {
    let rest = held + piece
    let thoughts = ''
    held = ''
    for (;;) {
      if (afterTag) rest = rest.trimStart()
      if (state === 'text') return [thoughts, rest]
      if (state === 'thought') {
        if (rest !== '') afterTag = false
        const end = rest.indexOf(close)
        if (end === -1) {
          const sure = rest.slice(0, rest.length - begunAt(rest, close))
          const blanks = Math.min(sure.length - sure.trimEnd().length, BLANKS)
          held = rest.slice(sure.length - blanks)
          return [thoughts + sure.slice(0, sure.length - blanks), '']
        }
        thoughts += rest.slice(0, end).trimEnd()
        rest = rest.slice(end + close.length)
        state = 'before'
        afterTag = true
        continue
      }
      const said = rest.trimStart()
      const tag = TAGS.find(([open]) => said.startsWith(open))
      if (tag) {
        close = tag[1]
        rest = said.slice(tag[0].length)
        state = 'thought'
        untagged = 'text'
        afterTag = true
      } else if (rest.length <= BLANKS && TAGS.some(([open]) => open.startsWith(said))) {
        held = rest
        return [thoughts, '']
      } else {
        state = untagged
        untagged = 'text'
      }
    }
  }

  const put = (fields: Record<string, unknown>, [thoughts, text]: [string, string]): void => {
    const before = fields['reasoning_content']
    if (thoughts) fields['reasoning_content'] = typeof before === 'string' ? before + thoughts : thoughts
    fields['content'] = text
  }

  return {
    separate(fields) {
      const { content } = fields
      if (typeof content === 'string' && (state !== 'text' || held !== '')) put(fields, read(content))
    },
    end(fields) {
      if (held === '') return
      const rest = held
      held = ''
      const before = typeof fields['content'] === 'string' ? fields['content'] : ''
      put(fields, state === 'thought' || untagged === 'thought' ? [rest.trimEnd(), before] : ['', before + rest])
    },
  }
}
