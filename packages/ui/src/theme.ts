import { effect, signal } from '@preact/signals'
import type { Theme } from './stored-theme.js'
import { applyTheme, storedTheme } from './stored-theme.js'

export const theme = signal<Theme>(storedTheme())

effect(() => applyTheme(theme.value))
