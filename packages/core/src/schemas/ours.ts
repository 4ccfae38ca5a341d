import * as v from 'valibot'

/** Marks, within what spec.md shows, what it does not: OpenAPI documents carry the mark. */
export const ours = <T>(): v.MetadataAction<T, { 'x-convention': true }> => v.metadata({ 'x-convention': true })
