import { describe, expect, it } from 'vitest'
import { lineOf, versionOf } from './lines.js'

describe('the line and the version', () => {
  it.each([
    ['gpt-5.4-mini', 'gpt-mini', 504],
    ['gpt-5.10', 'gpt', 510],
    ['gpt-6.2-sol', 'gpt-sol', 602],
    ['gpt-4o-mini-2024-07-18', 'gpto-mini', 400],
    ['o3', 'o', 300],
    ['claude-opus-5', 'claude-opus', 500],
    ['claude-sonnet-4-5-20250929', 'claude-sonnet', 405],
    ['claude-3-7-sonnet-latest', 'claude-sonnet', 307],
    ['gemini-3.1-pro-preview', 'gemini-pro', 301],
    ['gemini-2.5-flash-preview-tts', 'gemini-flash-tts', 205],
    ['gemini-flash-latest', 'gemini-flash', 0],
    ['text-embedding-3-small', 'text-embedding-small', 300],
  ])('of %s are %s and %i', (id, line, version) => {
    expect([lineOf(id), versionOf(id)]).toEqual([line, version])
  })
})
