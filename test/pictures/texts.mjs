/** What people wrote, and models answered. @module */

/** Files by their names: the media type and the text. */
export const FILES = {
  'launch-plan.md': [
    'text/markdown',
    `# Launch plan

1. **Freeze** the copy on Monday
2. Review the pricing page
3. Publish, and watch the error rate for an hour

| Step | Owner | Due |
|---|---|---|
| Copy | Nora | Monday |
| Pricing | Ben | Tuesday |
| Publish | Ada | Thursday |
`,
  ],
  'visits.csv': ['text/csv', 'day,visits,sign-ups\n2026-11-02,1840,52\n2026-11-03,1912,61\n2026-11-04,2077,58\n'],
  'interview-notes.txt': [
    'text/plain',
    'Six interviews, 30 minutes each.\n\nAll six looked for the price first.\nFour did not find the free plan.\n',
  ],
}

/** A picture that people have among their files. */
export const CHART = `<svg xmlns="http://www.w3.org/2000/svg" width="960" height="540">
<rect width="960" height="540" fill="#f8fafc"/>
<path d="M80 440 L220 380 L360 396 L500 300 L640 262 L780 190 L900 120" fill="none" stroke="#0d9488" stroke-width="8"/>
<path d="M80 440 L220 420 L360 410 L500 388 L640 376 L780 350 L900 338" fill="none" stroke="#6366f1" stroke-width="8"/>
<path d="M80 60 V460 H900" fill="none" stroke="#94a3b8" stroke-width="3"/></svg>`

const HEADLINE = `Three headlines, each with what it promises:

1. **Ship the model, not the plumbing**: speaks to developers who have built a gateway before.
2. **One key for every model**: the shortest, and the one to test first.
3. **Know what each answer costs**: for whoever pays the bill.

I would start with the second one: it says what the product *does* in five words.`

const COMPARISON = `Here is how the three plans compare:

| Plan | Price | Requests a month | Support |
|---|---:|---:|---|
| Free | $0 | 10,000 | Community |
| Team | $29 | 500,000 | E-mail, one day |
| Business | $199 | 5,000,000 | Chat, one hour |

Two things stand out:

- Visitors look for the **price of one more request**, and do not find it.
- "Business" has no monthly plan. *Four of six* people asked for one.

A call that counts what a visitor sees:

\`\`\`ts
const seen = await count({ page: '/pricing', days: 14 })
console.log(\`\${seen.visits} visits, \${seen.signUps} sign-ups\`)
\`\`\`

Shall I write a draft of the table for the page?`

const RETRY = `Retry only what may succeed the second time:

- \`429\` and \`503\`: wait for \`Retry-After\`, then try again.
- \`500\` and \`502\`: try once more after a short, random delay.
- Never \`400\`, \`401\` or \`404\`: the request itself is wrong.

\`\`\`ts
const delay = Math.min(2 ** attempt * 250, 8_000) * (0.5 + Math.random())
\`\`\`

**Cap** the attempts at three, so that an outage does not become a flood.`

const RETRY_SHORT = `Three rules cover most cases:

1. **Retry** 429, 502 and 503, and respect \`Retry-After\`.
2. **Back off** exponentially with jitter: 250 ms, 500 ms, 1 s.
3. **Stop** after three attempts, and report the last error.

Client errors such as 400 and 401 will not get better by being repeated.`

const SUMMARY = 'The visits grew by 12 % in two weeks; most of it came from the comparison page.'

/** What a model says to a question. */
export function answerTo(question, model) {
  if (/retr(y|ies)/i.test(question)) return model.startsWith('claude') ? RETRY : RETRY_SHORT
  if (/pricing page|plans/i.test(question)) return COMPARISON
  if (/headline/i.test(question)) return HEADLINE
  return SUMMARY.repeat(1 + (question.length % 5))
}

export const BEFORE = `## One key for every model

Turnpike puts **one API** in front of every provider.

- Keys with budgets
- Usage for each project
- No change to your code
`

export const DRAFT = `## One key for every model

Turnpike puts **one API** in front of OpenAI, Claude and Gemini, and tells you what each answer costs.

- Keys with budgets and expiry
- Usage for each project, task and person
- No change to your code: set the base URL

> "We replaced four SDKs in an afternoon."
`

/** Tasks of the first project: title, agent, status, and what is asked for. */
export const TASKS = [
  ['Write the copy of the landing page', 2, 'waiting_approval'],
  ['Draw the hero picture', 3, 'waiting_approval'],
  ['Answer the ten most frequent questions', 2, 'waiting_approval'],
  ['Rewrite the pricing table', 2, 'running'],
  ['Compare the pages of five competitors', 1, 'running'],
  ['Collect quotes of customers', 1, 'running'],
  ['Headlines for the newsletter', 2, 'done'],
  ['Outline of the launch post', 1, 'done'],
  ['Style guide: tone and words', 1, 'done'],
  ['Alt texts of all pictures', 3, 'done'],
  ['Copy of the sign-up form', 2, 'done'],
  ['Titles and descriptions for search', 2, 'done'],
  ['Social preview pictures', 3, 'failed'],
  ['Translate the home page into Portuguese', 2, 'failed'],
  ...[
    'Plan the second week of the blog',
    'Case study: Harbor Logistics',
    'Page for teams in education',
    'Error pages with a way back',
    'Screenshots of the board in both themes',
    'Changelog of November',
    'Write to the beta users',
    'Check all links of the documentation',
    'Shorten the privacy notice',
    'Banner for the conference',
    'Glossary of terms',
    'Video script, 60 seconds',
    'Headline of the careers page',
    'Copy of the e-mail after sign-up',
    'Icons of the feature list',
    'Page about security and data',
  ].map((title, i) => [title, [1, 2, 3, null][i % 4], 'scheduled']),
]
