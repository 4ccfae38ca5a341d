// What is shown of a text that is being written, so that nothing appears as a mark that turns into something else with the next word.

/** Characters that a line may begin with whatever it becomes: an item, a heading, a rule, a fence, the second line of a table or of a heading. */
const MARKS_ONLY = /^[\s>\-=+*_~`#|:[\].)xX\d]{0,100}$/

/** The first line of code, whose language may go on. */
const FENCE = /^[\s>]*(?:`{3}|~{3})/

const isRow = (line: string | undefined): boolean => line?.trimStart().startsWith('|') ?? false

/** A text without a last line of which it is not clear yet what it is, and without the head of a table that has no second line yet. */
export function clearPartOf(source: string): string {
  const lines = source.split('\n')
  if (!MARKS_ONLY.test(lines.at(-1)!) && !FENCE.test(lines.at(-1)!) && !isRow(lines.at(-1))) return source
  const isTable = isRow(lines.at(-1)) && isRow(lines.at(-2)) && MARKS_ONLY.test(lines.at(-2)!)
  const isLaterRow = isRow(lines.at(-1)) && isRow(lines.at(-2)) && isRow(lines.at(-3))
  if (isTable || isLaterRow) return source
  lines.pop()
  if (isRow(lines.at(-1)) && !isRow(lines.at(-2))) lines.pop()
  return lines.map((line) => `${line}\n`).join('')
}

/** Where a link or a picture may be that has not ended; no text before it matters. */
const OPEN_LINK = /(?:!?\[([^[\]`]*)(?:\](?:\([^)\s]*)?)?|!)$/

/** Marks of emphasis and code, and characters that are none since `\` stands before them. */
const MARK = /\\[^]|`+|\*\*|\*|__|_|~~/g

/** A text without the marks that it ends with. A pattern for them would take the square of the length of others before them. */
function withoutMarks(text: string): string {
  let end = text.length
  while (end > 0 && '*_~`'.includes(text[end - 1]!)) end--
  return text.slice(0, text[end - 1] === '\\' ? end + 1 : end)
}

/** A text of a paragraph with the ends of what is open in it: emphasis, code, the text of a link. */
export function withEnds(text: string): string {
  const shown = withoutMarks(text)
  const open: string[] = []
  let code: string | undefined
  for (const { 0: mark, index } of shown.matchAll(MARK)) {
    if (mark.startsWith('`')) code = code === undefined ? mark : code === mark ? undefined : code
    else if (code === undefined && !mark.startsWith('\\')) {
      const [before = ' ', after = ' '] = [shown[index - 1], shown[index + mark.length]]
      if (open.includes(mark) && /\S/.test(before)) open.length = open.lastIndexOf(mark)
      else if (/\S/.test(after) && !/[\p{L}\p{N}]/u.test(before)) open.push(mark)
    }
  }
  if (code !== undefined) return shown + code + open.toReversed().join('')
  const tail = shown.slice(-2_000)
  return shown.slice(0, -2_000) + tail.replace(OPEN_LINK, '$1').trimEnd() + open.toReversed().join('')
}
