import { expect, it } from 'vitest'
import { checkPassword } from './password-rules.js'

const ada = { email: 'ada.l@example.org', first_name: 'Ada', last_name: 'Lovelace', username: 'countess', name: '' }

it.each(['password', 'PassWord', 'iloveyou', 'Sunshine!!2027', '123456789', '1qaz2wsx'])(
  'refuses %s, which is common',
  (password) => {
    expect(() => checkPassword(password, {})).toThrow('password must not be one of the most common ones')
  },
)

it.each(['Lovelace', 'lovelace1815', '!Ada-Lovelace!', 'ada.l@example.org', 'Countess1', 'ada.l1234567'])(
  'refuses %s, which is made of the names of the user',
  (password) => {
    expect(() => checkPassword(password, ada)).toThrow('password must not be a name or the e-mail of its user')
    expect(() => checkPassword(password, { email: 'grace@example.org' })).not.toThrow()
  },
)

it.each(['correct horse', 'my friend Lovelace', '!!!!!!!!', 'lovelace & babbage', ''])('takes %j', (password) => {
  expect(() => checkPassword(password, { ...ada, email: null })).not.toThrow()
})
