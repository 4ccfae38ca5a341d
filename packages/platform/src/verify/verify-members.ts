import type { KV } from '@turnpike/core'
import { entriesOf } from '@turnpike/core'
import type { Found } from '../members/member-entries.js'
import { entryOfMember } from '../members/member-entries.js'
import type { StoredProject } from '../projects/project-access.js'

/** Checks that members find their projects, and whoever is invited; and that what leads to a project is of one of them. */
export async function* verifyMembers(kv: KV): AsyncGenerator<string> {
  for await (const { value: project } of entriesOf<StoredProject>(kv, ['project']))
    for (const member of project.members ?? []) {
      const { key, value } = entryOfMember(project, member)
      const { user_id, role } = (await kv.get<Found>(key))?.value ?? {}
      if (user_id !== value.user_id || role !== value.role)
        yield `Member ${member.id} does not find project ${project.id}`
    }
  for (const kind of ['user-shared', 'shared-with'])
    for await (const { key } of entriesOf(kv, [kind])) {
      const project = (await kv.get<StoredProject>(['project', key[2]!]))?.value
      const leads = project?.members?.some((member) => entryOfMember(project, member).key.join() === key.join())
      if (!leads) yield `${kind} ${key[1]} leads to project ${key[2]}, which has no such member`
    }
}
