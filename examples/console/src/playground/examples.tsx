import { change, isBlank, newMessage } from './draft.js'
import type { Draft } from './request.js'

export const exampleTools = JSON.stringify(
  [
    {
      type: 'function',
      function: {
        name: 'get_weather',
        description: 'The weather of a city',
        parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
      },
    },
  ],
  null,
  2,
)

export const exampleSchema = JSON.stringify(
  {
    name: 'city',
    strict: true,
    schema: {
      type: 'object',
      properties: { name: { type: 'string' }, country: { type: 'string' } },
      required: ['name', 'country'],
      additionalProperties: false,
    },
  },
  null,
  2,
)

/** What can be tried, by what the button says. */
const examples: readonly [string, string, Partial<Draft>][] = [
  ['Explain something', 'What is a turnpike? Explain it to a child, in three sentences.', {}],
  ['Call a tool', 'What is the weather in Rome?', { tools: exampleTools }],
  ['Answer by a schema', 'Which city of Europe is the oldest?', { format: 'json_schema', schema: exampleSchema }],
]

/** What is said where there is no answer yet and, where nothing is typed, examples that fill in the prompt. */
export const Examples = ({ onChoose }: { onChoose: () => void }) => (
  <>
    <p class="muted">The answer will be here.</p>
    {isBlank.value && (
      <div class="stack">
        <p class="small muted">Try an example:</p>
        <div class="row">
          {examples.map(([name, text, fields]) => (
            <button
              key={name}
              type="button"
              onClick={() => {
                change({ ...fields, messages: [newMessage({ text })] })
                onChoose()
              }}
            >
              {name}
            </button>
          ))}
        </div>
      </div>
    )}
  </>
)
