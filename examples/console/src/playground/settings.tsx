import { Field, Folded, Segmented } from '@turnpike/ui'
import { change, draft, faults } from './draft.js'
import { exampleSchema, exampleTools } from './examples.js'
import type { Parameter } from './request.js'
import { efforts } from './request.js'

const numberFields = [
  ['temperature', 'Temperature', { min: 0, max: 2, step: 0.1 }],
  ['top_p', 'Top P', { min: 0, max: 1, step: 0.05 }],
  ['max_tokens', 'Most tokens', { min: 1, step: 1 }],
  ['seed', 'Seed', { step: 1 }],
] as const

/** How many of some texts are set, to be said where they are folded. */
const countOf = (texts: readonly (string | undefined)[]): string => {
  const set = texts.filter((text) => text !== undefined && text !== '').length
  return set === 0 ? '' : ` (${set} set)`
}

function JsonField({
  label,
  value,
  fault,
  example,
  onChange,
}: {
  label: string
  value: string
  fault: string | undefined
  example: string
  onChange: (value: string) => void
}) {
  return (
    <Field label={label} hint={value.trim() === '' ? undefined : fault}>
      {(ids) => (
        <>
          <textarea
            {...ids}
            class="mono"
            rows={8}
            spellcheck={false}
            aria-invalid={value.trim() !== '' && fault !== undefined}
            value={value}
            onInput={(event) => onChange(event.currentTarget.value)}
          />
          {value.trim() === '' && (
            <button type="button" class="link small" onClick={() => onChange(example)}>
              Insert an example
            </button>
          )}
        </>
      )}
    </Field>
  )
}

/** What else is asked for. What is empty is not sent. */
export function Settings() {
  const { parameters, tools, format, schema } = draft.value
  const set = (name: Parameter, value: string): void => change({ parameters: { ...parameters, [name]: value } })
  return (
    <>
      <Folded summary={`Parameters${countOf(Object.values(parameters))}`}>
        <p class="small muted">What is empty is not sent.</p>
        <div class="numbers">
          {numberFields.map(([name, label, bounds]) => (
            <Field key={name} label={label}>
              {(ids) => (
                <input
                  {...ids}
                  {...bounds}
                  type="number"
                  value={parameters[name] ?? ''}
                  onInput={(event) => set(name, event.currentTarget.value)}
                />
              )}
            </Field>
          ))}
          <Field label="Reasoning effort">
            {(ids) => (
              <select
                {...ids}
                value={parameters.reasoning_effort ?? ''}
                onChange={(event) => set('reasoning_effort', event.currentTarget.value)}
              >
                <option value="">Not set</option>
                {efforts.map((effort) => (
                  <option key={effort} value={effort}>
                    {effort}
                  </option>
                ))}
              </select>
            )}
          </Field>
        </div>
        <Field label="Stop sequences" hint="One a line; \n is a line break.">
          {(ids) => (
            <textarea
              {...ids}
              class="mono"
              rows={2}
              value={parameters.stop ?? ''}
              onInput={(event) => set('stop', event.currentTarget.value)}
            />
          )}
        </Field>
      </Folded>
      <Folded summary={`Tools${countOf([tools.trim()])}`}>
        <JsonField
          label="List of tools, as JSON"
          value={tools}
          fault={faults.value.tools}
          example={exampleTools}
          onChange={(value) => change({ tools: value })}
        />
      </Folded>
      <Folded summary={`Response format${format === 'text' ? '' : ' (1 set)'}`}>
        <Segmented
          label="Response format"
          value={format}
          options={[
            ['text', 'Text'],
            ['json_object', 'JSON'],
            ['json_schema', 'By a schema'],
          ]}
          onChange={(value) => change({ format: value })}
        />
        {format === 'json_schema' && (
          <JsonField
            label="JSON schema"
            value={schema}
            fault={faults.value.schema}
            example={exampleSchema}
            onChange={(value) => change({ schema: value })}
          />
        )}
      </Folded>
    </>
  )
}
