import type { Paging as PagingInput } from '../pages.js'
import type { Parts } from '../parts.js'
import { getResult, listResults } from './stored-results.js'

/** What the tasks of a project came to, without HTTP. */
export const resultOperations = ({ kvOf }: Parts) => ({
  /** The tasks of a project that have an output, the last first that got it. @throws ApiError 404 */
  list: (userId: string, projectId: string, page?: PagingInput) => listResults(kvOf(userId), userId, projectId, page),
  /** The output of a task, by the task's id. @throws ApiError 404, also where it has none */
  get: (userId: string, id: string) => getResult(kvOf(userId), userId, id),
})

export type ResultOperations = ReturnType<typeof resultOperations>
