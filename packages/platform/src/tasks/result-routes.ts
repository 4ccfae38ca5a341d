import { jsonArray, Paging } from '@turnpike/http'
import * as v from 'valibot'
import { operation } from '../operation.js'
import type { ProjectOperations } from '../projects/projects.js'
import { IdParams, Result } from '../schemas.js'
import type { ResultOperations } from './results.js'

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
    version: (caller, { query }) => projects.version(caller!.user.id, query.projectId, 'tasks'),
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
