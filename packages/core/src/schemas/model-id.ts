import * as v from 'valibot'

/** The id of a model in a request. The longest that a vendor documents are Bedrock's, with 2,048 characters; ids are remembered. */
export const ModelId = v.pipe(v.string(), v.minLength(1), v.maxLength(2_048))
