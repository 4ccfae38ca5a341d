import * as v from 'valibot'

/** Marks a schema as our addition to a shape of the contract. The mark appears in the OpenAPI documents. */
export const ours = <T>(): v.MetadataAction<T, { 'x-convention': true }> => v.metadata({ 'x-convention': true })
