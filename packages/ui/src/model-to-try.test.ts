import { expect, it } from 'vitest'
import { modelToTry } from './model-to-try.js'

it.each<[ids: string[], expected: string]>([
  [['gpt-4o', 'gpt-4o-mini'], 'gpt-4o-mini'],
  [['nomic-embed-text:latest', 'llama3.2:latest', 'qwen3:8b'], 'llama3.2:latest'],
  [['nomic-embed-text:latest'], 'gpt-4o-mini'],
  [[], 'gpt-4o-mini'],
])('of %j it is %s', (ids, expected) => expect(modelToTry(ids)).toBe(expected))
