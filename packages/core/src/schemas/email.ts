import * as v from 'valibot'
import { EMAIL, EMAIL_LENGTH, hasEmailLength } from '../entities/users.js'

/** The e-mail address of a user in a body. */
export const Email = v.pipe(
  v.string(),
  v.maxLength(EMAIL_LENGTH),
  v.regex(EMAIL, 'expected an e-mail address'),
  v.check(hasEmailLength, `expected at most ${EMAIL_LENGTH} characters, with composed ones`),
)
