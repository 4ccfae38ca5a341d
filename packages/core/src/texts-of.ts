import type { EmbeddingRequest } from './schemas/embeddings.js'

/** How many texts, and so vectors, an input is: as many as a list has that is not one of tokens. */
export const textsOf = (input: EmbeddingRequest['input']): number =>
  Array.isArray(input) && typeof input[0] !== 'number' ? input.length : 1
