import * as v from 'valibot'
import { EMAIL, EMAIL_LENGTH, hasEmailLength, ONE_LINE } from '../entities/users.js'

/** The e-mail address of a user in a body. */
export const Email = v.pipe(
  v.string(),
  v.maxLength(EMAIL_LENGTH),
  v.regex(EMAIL, 'expected an e-mail address'),
  v.check(hasEmailLength, `expected at most ${EMAIL_LENGTH} characters, with composed ones`),
)

/** A name of a user in a body. */
export const UserName = v.pipe(
  v.string(),
  v.maxLength(200),
  v.regex(ONE_LINE, 'expected a text without control characters'),
)
