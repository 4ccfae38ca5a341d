import { describe, expect, it } from 'vitest'
import { refusedBy } from './refused-by.js'

describe('a refusal is', () => {
  it.each<[refused: string | undefined, status: number, text: string, code?: string]>([
    ['model', 404, 'Not found'],
    ['model', 410, 'The model has reached its end of life'],
    ['model', 400, 'Unavailable model: foo', 'unavailable_model'],
    ['model', 400, 'The chatCompletion operation does not work with the specified model, x.', 'OperationNotSupported'],
    ['model', 400, 'The model `x` requires terms acceptance.', 'model_terms_required'],
    ['model', 400, 'Failed to load model "x". Error: out of memory'],
    [
      'model',
      400,
      'Invocation of model ID anthropic.claude-4-v1:0 with on-demand throughput isn’t supported. Retry with an inference profile.',
    ],
    ['parameter', 400, "Additional properties are not allowed ('store' was unexpected)"],
    ['parameter', 400, "Unrecognized key(s) in object: 'store'"],
    ['parameter', 400, 'property store should not exist'],
    ['parameter', 400, 'Penalty is not enabled for models/x'],
    ['content', 400, 'Blocked by guardrail: this content is not supported'],
    ['content', 400, 'Content exists risk: this is not supported'],
    [undefined, 400, 'Incorrect API key provided'],
    [undefined, 400, "'messages.0.content' is not supported"],
  ])('%s for %i %s', (refused, status, text, code) => {
    expect(refusedBy(status, text, { code })).toBe(refused)
  })
})
