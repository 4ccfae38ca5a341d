import { createContext } from 'preact'
import { useContext } from 'preact/hooks'
import type { Project } from './project-form.js'

/** What the user is in the project that is shown; undefined = its owner. */
export const Role = createContext<Project['role']>(undefined)

/** Whether the project that is shown is the user's own. */
export const useIsOwner = (): boolean => useContext(Role) === undefined

/** Whether the user may change what is in the project that is shown. */
export const useMayEdit = (): boolean => useContext(Role) !== 'reader'
