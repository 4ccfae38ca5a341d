import { count, duration, Icon, icons, NONE, usd } from '@turnpike/ui'
import { reasonsOf } from './answer.js'
import type { Run } from './runs.js'
import { rateOf } from './runs.js'

/** What a run took and cost, and why its provider was chosen. */
export function Facts({ run }: { run: Run }) {
  const { state, body, firstMs, totalMs, usage, explanation } = run
  const rate = rateOf(run)
  const figures = [
    ['Cost', usage ? (usage.priced ? usd(usage.cost) : 'price unknown') : NONE],
    ['First token', duration(firstMs)],
    ['Total', duration(totalMs)],
    ['Speed', rate === undefined ? NONE : `${count(Math.round(rate))} tok/s`],
    ['Tokens', usage ? `${count(usage.prompt_tokens)} in, ${count(usage.completion_tokens)} out` : NONE],
  ].filter(([, value]) => value !== NONE || state === 'running')
  return (
    <footer class="stack small">
      {explanation && explanation.warnings.length > 0 && (
        <ul class="stack" aria-label="Warnings">
          {explanation.warnings.map((warning) => (
            <li key={warning} class="warning break">
              <Icon icon={icons.Warning} size={14} />
              {warning}
            </li>
          ))}
        </ul>
      )}
      <dl class="run-figures">
        {figures.map(([name, value]) => (
          <div key={name}>
            <dt class="muted">{name}</dt>
            <dd class="number">{value}</dd>
          </div>
        ))}
      </dl>
      {explanation?.provider !== undefined && (
        <details>
          <summary>
            Why <b>{explanation.provider}</b>
          </summary>
          <div class="stack">
            {reasonsOf(explanation, body.provider === 'auto' ? undefined : body.provider).map((sentence) => (
              <p key={sentence}>{sentence}</p>
            ))}
            {explanation.considered.length > 0 && (
              <ol class="considered" aria-label="Compared">
                {explanation.considered.map(({ name, usd: expected, reason }) => (
                  <li key={name}>
                    <span class="break">{name}</span>
                    <span class="number">{expected === undefined ? 'price unknown' : usd(expected)}</span>
                    {reason !== undefined && <span class="muted">{reason}</span>}
                  </li>
                ))}
              </ol>
            )}
            {explanation.requestId !== undefined && <p class="muted mono break">Request {explanation.requestId}</p>}
          </div>
        </details>
      )}
    </footer>
  )
}
