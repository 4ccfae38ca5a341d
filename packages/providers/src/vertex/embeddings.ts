import { count } from '../answers/count.js'
import type { EmbeddingMethod } from '../google/embeddings.js'
import { promptUsage, usageOf } from '../google/embeddings.js'
import { toPath } from '../google/models.js'

/** Gemini Embedding 2 and later have embedContent only, with one text. */
const embedContent: EmbeddingMethod = {
  batch: 1,
  request: (model, [text], outputDimensionality) => ({
    path: toPath(model, 'embedContent'),
    body: { content: { parts: [{ text }] }, outputDimensionality },
  }),
  vectors: ({ embedding }: { embedding?: { values: unknown } }) => embedding && [embedding.values],
  usage: usageOf,
}

interface Predictions {
  predictions?: { embeddings?: { values?: unknown; statistics?: { token_count?: unknown } } }[]
}

/** The method of all earlier models. Texts that are too long are refused, and not cut, as they would be by default. */
const predict: EmbeddingMethod = {
  // As many as cannot have more than 20,000 tokens together, of which a text has 2,048 at most.
  batch: 9,
  request: (model, texts, outputDimensionality) => ({
    path: toPath(model, 'predict'),
    body: {
      instances: texts.map((content) => ({ content })),
      parameters: { autoTruncate: false, outputDimensionality },
    },
  }),
  vectors: ({ predictions }: Predictions) => predictions?.map(({ embeddings }) => embeddings?.values),
  usage: ({ predictions }: Predictions) => {
    const counts = predictions?.map(({ embeddings }) => count(embeddings?.statistics?.token_count))
    return promptUsage(
      counts?.reduce((sum, one) => (sum === undefined || one === undefined ? undefined : sum + one), 0),
    )
  },
}

/** The method by which Vertex AI embeds with a model (Google's "Text embeddings API"; vercel/ai#15853). */
export function embeddingMethod(model: string): EmbeddingMethod {
  if (/^gemini-embedding-[1-9]/.test(model)) return embedContent
  // Gemini Embedding 1 takes one text.
  return model.startsWith('gemini-') ? { ...predict, batch: 1 } : predict
}
