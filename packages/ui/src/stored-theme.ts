import { store, stored } from './stored.js'

/** `''` = as the system says. */
export type Theme = '' | 'light' | 'dark'

/** The theme that follows a theme where its button is pressed. */
export const nextTheme = { '': 'dark', dark: 'light', light: '' } as const
export const themeNames = { '': 'System theme', dark: 'Dark theme', light: 'Light theme' } as const

/** The theme that the user has chosen. */
export function storedTheme(): Theme {
  const value = stored('theme')
  return value === 'light' || value === 'dark' ? value : ''
}

/** Shows the page in a theme, and stores it. */
export function applyTheme(theme: Theme): void {
  const { dataset } = document.documentElement
  if (theme) dataset['theme'] = theme
  else delete dataset['theme']
  store('theme', theme || undefined)
}
