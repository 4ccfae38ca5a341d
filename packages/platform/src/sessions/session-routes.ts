import type { JsonValue } from '@turnpike/core'
import { jsonArray, Paging } from '@turnpike/http'
import * as v from 'valibot'
import { jsonObject } from '@turnpike/core/internal'
import { METADATA_LENGTH } from '../conventions.js'
import { found } from '../errors.js'
import { operation } from '../operation.js'
import { IdParams, Session, wellFormed } from '../schemas.js'
import { dateOf, Time } from '../time.js'
import type { SessionOperations } from './sessions.js'

/** The body of POST /api/sessions. */
export const NewSession = v.object({
  label: v.nullish(v.pipe(v.string(), v.maxLength(200), wellFormed)),
  metadata: v.nullish(
    v.pipe(
      jsonObject,
      v.check(
        (object) => JSON.stringify(object).length <= METADATA_LENGTH,
        `expected at most ${METADATA_LENGTH} characters of JSON`,
      ),
    ),
  ),
  /** From when on requests are not counted in it any more. */
  expiresAt: v.nullish(Time),
})

/** POST /api/sessions */
export const sessionsCreate = (sessions: SessionOperations) =>
  operation({
    id: 'sessions.create',
    summary: 'Makes a session, whose id groups gateway requests by the header X-Session-ID.',
    access: 'user',
    aliases: { expires_at: 'expiresAt' },
    body: NewSession,
    example: { label: 'Headlines' },
    output: Session,
    errors: [403],
    run: (caller, { body: { label, metadata, expiresAt } }) =>
      sessions.create(caller!.user.id, {
        label: label ?? null,
        metadata: (metadata ?? null) as { [key: string]: JsonValue } | null,
        expiresAt: expiresAt == null ? null : dateOf(expiresAt),
      }),
  })

/** GET /api/sessions */
export const sessionsList = (sessions: SessionOperations) =>
  operation({
    id: 'sessions.list',
    summary: "The caller's sessions and their usage, newest first.",
    access: 'user',
    query: Paging,
    output: v.array(Session),
    answerHeaders: ['Link'],
    run: (caller, { query }, call) => jsonArray(query, call, (page) => sessions.list(caller!.user.id, page)),
  })

/** GET /api/sessions/{id} */
export const sessionsGet = (sessions: SessionOperations) =>
  operation({
    id: 'sessions.get',
    summary: 'A session and its usage.',
    access: 'user',
    params: IdParams,
    output: Session,
    errors: [404],
    run: async (caller, { params: { id } }) => found('session', await sessions.get(caller!.user.id, id)),
  })
