import { jsonArray, Paging } from '@turnpike/http'
import * as v from 'valibot'
import type { Paging as PagingInput } from '../entities/pages.js'
import { getResult, listResults } from '../entities/results.js'
import { operation } from '../operation.js'
import type { Parts } from '../parts.js'
import { IdParams, Result } from '../schemas.js'
import type { ProjectOperations } from './projects.js'

/** What the tasks of a project came to, without HTTP. */
export const resultOperations = ({ kv }: Parts) => ({
  /** The tasks of a project that have an output, the last first that got it. @throws ApiError 404 */
  list: (userId: string, projectId: string, page?: PagingInput) => listResults(kv, userId, projectId, page),
  /** The output of a task, by the task's id. @throws ApiError 404, also where it has none */
  get: (userId: string, id: string) => getResult(kv, userId, id),
})

export type ResultOperations = ReturnType<typeof resultOperations>

/** GET /api/results */
export const resultsList = (results: ResultOperations, projects: ProjectOperations) =>
  operation({
    id: 'results.list',
    summary: 'The outputs of the tasks of a project, the latest first.',
    access: 'user',
    query: v.object({ projectId: v.string(), ...Paging.entries }),
    output: v.array(Result),
    errors: [404],
    answerHeaders: ['Link'],
    version: (caller, { query }) => projects.version(caller!.user.id, query.projectId),
    run: (caller, { query }, call) =>
      jsonArray(query, call, (page) => results.list(caller!.user.id, query.projectId, page)),
  })

/** GET /api/results/{id} */
export const resultsGet = (results: ResultOperations) =>
  operation({
    id: 'results.get',
    summary: 'The output of a task, whose id is the id of the result.',
    access: 'user',
    params: IdParams,
    output: Result,
    errors: [404],
    run: (caller, { params: { id } }) => results.get(caller!.user.id, id),
  })
