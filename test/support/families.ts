import { createRouter, google, googleEndpoints, openai } from '@turnpike/providers'
import type { FakeAnswer, FakeRequest } from '@turnpike/providers/testing'
import { fakeGoogle, fakeOpenAI } from '@turnpike/providers/testing'
import type { TestOptions } from './gateway.js'
import { answer, testGateway } from './gateway.js'

export interface FamiliesOptions extends TestOptions {
  /** Answers in place of a fake. */
  answers?: { google?: (request: FakeRequest) => FakeAnswer; openai?: (request: FakeRequest) => FakeAnswer }
}

/** A gateway in front of a fake Google, that speaks and listens too, and a fake OpenAI. */
export async function familiesGateway({ answers = {}, ...options }: FamiliesOptions = {}) {
  const fakes = {
    google: fakeGoogle(answers.google && { override: answers.google }),
    openai: fakeOpenAI(answers.openai && { override: answers.openai }),
  }
  const router = createRouter({
    providers: [
      google({
        apiKey: 'AIza-upstream',
        transport: fakes.google.transport,
        endpoints: googleEndpoints({ audio: true }),
      }),
      openai({ apiKey: 'sk-upstream', transport: fakes.openai.transport }),
    ],
  })
  const at = await testGateway({ router, ...options })
  return { ...at, ...fakes }
}

/** An answer of generateContent with one part. */
export const generated = (part: object, usageMetadata?: object): FakeAnswer =>
  answer({ candidates: [{ content: { role: 'model', parts: [part] }, finishReason: 'STOP' }], usageMetadata })

/** A form with a recording, by default of a minute and a quarter at most. */
export function recording(fields: Record<string, string> = {}, bytes = 'audio'.repeat(1_000)): FormData {
  const form = new FormData()
  form.set('model', 'whisper-1')
  form.set('file', new File([bytes], 'talk.mp3'))
  for (const [name, value] of Object.entries(fields)) form.set(name, value)
  return form
}
