/** A text with everything that Markdown has. */
export const richText = `# Launch plan for the gateway

The **first release** goes to *five customers*. It speaks [OpenAI's API](https://platform.openai.com/docs/api-reference) and costs ~~$20~~ **$12** a month; set \`OPENAI_BASE_URL\` and nothing else.

> A gateway is only as good as its worst minute.
> Measure that one.

## What is left

1. Write the announcement
   - one paragraph for each audience
   - a picture of the board
2. Ask two people to read it
3. Send it

- [x] Prices are checked
- [ ] The status page is public
- [ ] Somebody has the pager

### What it costs

| Model | Input, $ per million tokens | Output, $ per million tokens | Window | Note |
|:--|--:|--:|--:|:-:|
| gpt-4o-mini | 0.15 | 0.60 | 128,000 | default |
| claude-haiku-4-5 | 1.00 | 5.00 | 200,000 | |
| gemini-2.5-flash | 0.30 | 2.50 | 1,048,576 | long documents |

### How to try it

\`\`\`ts
import OpenAI from 'openai'

// The key is one of the gateway's.
const client = new OpenAI({ baseURL: 'http://127.0.0.1:8787/v1', apiKey: process.env.TURNPIKE_KEY })
const stream = await client.chat.completions.create({ model: 'gpt-4o-mini', stream: true, messages: [{ role: 'user', content: 'Hello' }] })
for await (const chunk of stream) process.stdout.write(chunk.choices[0]?.delta.content ?? '')
\`\`\`

\`\`\`bash
curl "$BASE/v1/models" -H "Authorization: Bearer $KEY" | jq '.data | length'
\`\`\`

---

Questions go to <mailto:team@example.org>. ![The route of a request](https://elsewhere.example/route.png)
`
