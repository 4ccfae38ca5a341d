import { effect, signal } from '@preact/signals'

/** `''` = as the system says. */
export type Theme = '' | 'light' | 'dark'

const stored = (): Theme => {
  try {
    const value = localStorage.getItem('theme')
    return value === 'light' || value === 'dark' ? value : ''
  } catch {
    // Storage may be forbidden.
    return ''
  }
}

export const theme = signal<Theme>(stored())

effect(() => {
  const { value } = theme
  const { dataset } = document.documentElement
  if (value) dataset['theme'] = value
  else delete dataset['theme']
  try {
    if (value) localStorage.setItem('theme', value)
    else localStorage.removeItem('theme')
  } catch {
    // As above.
  }
})
