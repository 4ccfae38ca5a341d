/**
 * Shows only the operations with all words that stand in the field, in their path, summary or names of fields; `/` leads there, and Esc empties it.
 * @returns empties it
 */
export function startFilter(): () => void {
  const input = document.querySelector<HTMLInputElement>('[type=search]')!
  const found = document.querySelector('#found')!
  const operations = [...document.querySelectorAll<HTMLElement>('.op')].map((element) => ({
    element,
    text: [
      element.dataset['name'],
      ...Array.from(element.querySelectorAll('summary, .name'), (part) => part.textContent),
    ]
      .join(' ')
      .toLowerCase(),
  }))
  const groups = [...document.querySelectorAll<HTMLElement>('.group')]
  const links = [...document.querySelectorAll<HTMLElement>('[data-of]')]
  const tags = [...document.querySelectorAll<HTMLElement>('.tags > li')]
  const lists = [...document.querySelectorAll<HTMLElement>('nav section')]

  const filter = (): void => {
    const words = input.value.toLowerCase().split(/\s+/)
    const shown = new Set<string>()
    for (const { element, text } of operations) {
      element.hidden = !words.every((word) => text.includes(word))
      if (!element.hidden) shown.add(element.querySelector('.op-body')!.id)
    }
    for (const group of groups) group.hidden = !group.querySelector('.op:not([hidden])')
    for (const link of links) link.hidden = !shown.has(link.dataset['of']!)
    for (const tag of tags)
      tag.hidden = document.getElementById(decodeURIComponent(tag.querySelector('a')!.hash.slice(1)))!.hidden
    for (const list of lists) list.hidden = !list.querySelector('.tags > li:not([hidden])')
    const { length } = links.filter(({ hidden }) => !hidden)
    found.textContent = input.value.trim() === '' ? '' : `${length || 'No'} operation${length === 1 ? '' : 's'} found`
  }
  const clear = (): void => {
    input.value = ''
    filter()
  }
  input.addEventListener('input', filter)
  addEventListener('keydown', (event) => {
    const { key, target, ctrlKey, metaKey, altKey } = event
    if (target === input && key === 'Escape') clear()
    const isTyping = target instanceof HTMLElement && target.matches('input, textarea, dialog, dialog *')
    if (key !== '/' || isTyping || ctrlKey || metaKey || altKey) return
    event.preventDefault()
    input.focus()
    input.select()
  })
  return clear
}
