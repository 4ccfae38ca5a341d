import { createContext } from 'preact'
import { useContext } from 'preact/hooks'
import type { Project } from './project-form.js'
import type { Task } from './tasks.js'

/** The project that is shown, once it is read. */
export const ShownProject = createContext<Project | undefined>(undefined)

/** What the user is in the project that is shown; undefined = its owner. */
const useRole = (): Project['role'] => useContext(ShownProject)?.role

/** Whether the project that is shown is the user's own. */
export const useIsOwner = (): boolean => useRole() === undefined

/** Whether the user may change what is in the project that is shown. */
export const useMayEdit = (): boolean => useRole() !== 'reader'

/** Whether somebody else may have written a task: of a project of somebody else its owner, of the user's own another member. All of it is shown then. */
export const useMayBeOfOthers = ({ by_others }: Task): boolean => !useIsOwner() || by_others === true
