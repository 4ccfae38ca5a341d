import type { Schemas } from '@turnpike/client'
import { Field, Form, Loaded, textOf, useAction, useData } from '@turnpike/ui'
import { useEffect, useRef } from 'preact/hooks'
import { turnpike } from '../turnpike.js'

export type Project = Schemas['Project']
type Team = Schemas['Team']

/** A type of team as a label: `Software development`. */
export const teamName = (type: string): string => (type[0]!.toUpperCase() + type.slice(1)).replaceAll('-', ' ')

function ProjectFields({ project, teams }: { project: Project | undefined; teams: readonly Team[] }) {
  const name = useRef<HTMLInputElement>(null)
  useEffect(() => {
    if (!project) name.current!.focus()
  }, [])
  return (
    <>
      <Field label="Name">
        {(ids) => <input {...ids} name="name" defaultValue={project?.name} maxLength={1000} required ref={name} />}
      </Field>
      <Field label="Team" hint="Its agents can be named for tasks.">
        {(ids) => (
          <select {...ids} name="teamType">
            {teams.map(({ type, agents }) => (
              <option key={type} value={type} selected={type === project?.team_type}>
                {teamName(type)}: {agents.map(({ name }) => name).join(', ')}
              </option>
            ))}
          </select>
        )}
      </Field>
      <Field label="Description">
        {(ids) => <textarea {...ids} name="description" rows={3} defaultValue={project?.description ?? ''} />}
      </Field>
      <Field label="Colour">
        {(ids) => <input {...ids} name="color" type="color" defaultValue={project?.color ?? '#0a6b60'} />}
      </Field>
    </>
  )
}

const projectOf = (fields: FormData) => ({
  name: textOf(fields, 'name'),
  teamType: textOf(fields, 'teamType') as Project['team_type'],
  description: textOf(fields, 'description') || null,
  color: textOf(fields, 'color'),
})

/**
 * A form of what users can change of a project.
 * @param project absent for a new one
 * @param label what the button says
 * @param done what is said once it has been saved, where the form stays
 */
export function ProjectForm({
  project,
  save,
  ...form
}: {
  project?: Project
  label: string
  done?: string
  save: (fields: ReturnType<typeof projectOf>) => Promise<void>
}) {
  const teams = useData((signal) => turnpike.get('/api/teams', { signal }), [])
  const action = useAction((fields: FormData) => save(projectOf(fields)))
  return (
    <Loaded data={teams}>
      {(teams) => (
        <Form action={action} {...form}>
          <ProjectFields project={project} teams={teams} />
        </Form>
      )}
    </Loaded>
  )
}
