import type { KV } from '@turnpike/core'
import { entriesOf } from '@turnpike/core'
import { verifyOwned } from '@turnpike/core/internal'

/** Checks that the index of session cookies and the sign-ins agree. */
async function* verifyCookies(kv: KV): AsyncGenerator<string> {
  for await (const { key, value } of entriesOf<{ cookie?: string }>(kv, ['sign-in'])) {
    const { cookie } = value
    if (cookie !== undefined && (await kv.get<string>(['session-cookie', cookie]))?.value !== key[1])
      yield `Sign-in ${key[1]} is not found by its cookie`
  }
  for await (const { key, value: id } of entriesOf<string>(kv, ['session-cookie']))
    if ((await kv.get<{ cookie?: string }>(['sign-in', id]))?.value.cookie !== key[1])
      yield `A cookie leads to sign-in ${id}, whose cookie it is not`
}

/** Checks that sign-ins are found by their users and cookies. */
export async function* verifySignIns(kv: KV): AsyncGenerator<string> {
  yield* verifyOwned(kv, 'Sign-in', 'sign-in', 'user-sign-ins')
  yield* verifyCookies(kv)
}
