/** The members of projects: whom their owners have invited, and who has accepted. @module */
import type { Act, Entry, Key, KV, User } from '@turnpike/core'
import { entriesOf, getUser } from '@turnpike/core'
import { repeated, uuidv7 } from '@turnpike/core/helpers'
import { audit, counting, emailId, growth, invalid, ownedKey, pageOfIndex, userEntries } from '@turnpike/core/internal'
import { MOST_MEMBERS, MOST_OFFERED, MOST_SHARED } from '../conventions.js'
import { forbidden, notFound } from '../errors.js'
import type { Page, Paging } from '../pages.js'
import type { Member, StoredProject } from '../projects/project-access.js'
import { idOf, permitted, projectFor, projectKey } from '../projects/project-access.js'
import { joined, projectView } from '../projects/stored-projects.js'
import type { Share } from '../schemas-members.js'
import type { MemberRole, Project } from '../schemas.js'
import type { Found } from './member-entries.js'
import { entryOfMember, offeredKey, sharedKey, slotsKey } from './member-entries.js'

/** Who asks: a member by the id, whoever is invited by the e-mail. */
export type Person = Pick<User, 'id' | 'email'>

/** Whether a member is the person who asks, or waits for that person. */
const isOf = (member: Member, { id, email }: Person): boolean =>
  member.user_id === undefined ? email !== null && emailId(member.email) === emailId(email) : member.user_id === id

/** Whether nobody has accepted with the e-mail of a member, or who has, still has it: by now, it may be somebody else's. */
const hasItsEmail = async (kv: KV, { user_id, email }: Member): Promise<boolean> =>
  user_id === undefined || emailId((await getUser(kv, user_id))?.email ?? '') === emailId(email)

/** The members of a project, the first first: all for its owner, without those who were deleted; only themselves for others. @throws ApiError 404 */
export async function listMembers(kv: KV, userId: string, projectId: string): Promise<Member[]> {
  const { value } = await projectFor(kv, userId, projectId)
  const { user_id: owner, members = [] } = value
  if (owner !== userId) return members.filter((member) => member.user_id === userId)
  const users = await userEntries(
    kv,
    members.flatMap(({ user_id }) => user_id ?? []),
  )
  const live = new Set(users.flatMap((user) => (user?.value.deleted_at === null ? user.value.id : [])))
  return members.filter(({ user_id }) => user_id === undefined || live.has(user_id))
}

/**
 * Writes a project with other members, and the entries by which it is found.
 * @param options.shared the users with whom one more project is shared, or one less
 * @param options.bytes bytes of data in all that the owner may have; default any number
 * @returns undefined where it was changed meanwhile
 */
async function writeMembers(
  kv: KV,
  project: Entry<StoredProject>,
  members: Member[],
  {
    shared = [],
    bytes,
    log = [],
  }: { shared?: { userId: string; more: 1 | -1 }[]; bytes?: number; log?: ReturnType<typeof audit> },
): Promise<StoredProject | undefined> {
  const { key, version, value } = project
  const changed = { ...value, members }
  const entriesOfMembers = (one: StoredProject) => (one.members ?? []).map((member) => entryOfMember(one, member))
  const [before, after] = [entriesOfMembers(value), entriesOfMembers(changed)]
  const set = [{ key, value: changed }, ...after]
  const isKept = (one: { key: readonly string[] }) => after.some(({ key }) => key.join() === one.key.join())
  const { check, sum } = joined(
    await Promise.all([
      counting(kv, ownedKey(value.user_id), growth(set, [project, ...before]), { limits: { bytes } }),
      // The list of the owner's projects, and so that of the members, has another version.
      counting(kv, slotsKey(value.user_id), { projects: 0 }),
      ...shared.map(({ userId, more }) =>
        counting(kv, slotsKey(userId), { shared: more }, { limits: { shared: MOST_SHARED } }),
      ),
    ]),
  )
  const written = await kv.commit({
    check: [{ key, version }, ...check],
    set: [...set, ...log],
    del: before.filter((one) => !isKept(one)).map(({ key }) => key),
    sum,
  })
  return written ? changed : undefined
}

/** A project and its member with an id, whoever asks. */
async function memberOf(
  kv: KV,
  projectId: string,
  memberId: string,
): Promise<{ project: Entry<StoredProject> | null; member: Member | undefined }> {
  const known = idOf(projectId)
  const project = known === null ? null : await kv.get<StoredProject>(projectKey(known))
  return { project, member: project?.value.members?.find(({ id }) => id === idOf(memberId)) }
}

/** @throws ApiError 403 where as many projects of an owner as may wait for an e-mail */
async function checkOffered(kv: KV, ownerId: string, email: string): Promise<void> {
  let offered = 0
  for await (const { value } of entriesOf<Found>(kv, offeredKey(email)))
    if (value.user_id === ownerId && ++offered >= MOST_OFFERED)
      throw forbidden(
        `${MOST_OFFERED} of your projects wait for this e-mail already; they have to be accepted or declined`,
      )
}

/**
 * Invites somebody by e-mail, whether or not there is a user with it; changes the role of who is invited or a member.
 * @param options.bytes bytes of data in all that the owner may have
 * @throws ApiError 404; 403 for others than the owner, and where it would be too many or too much; 400 for the owner's own e-mail
 */
export const setMember = (
  kv: KV,
  owner: Person,
  projectId: string,
  { email, role }: { email: string; role: MemberRole },
  { bytes, now, by, again }: { bytes: number; now: number } & Pick<Act, 'by' | 'again'>,
): Promise<Member> => {
  const attempt = async () => {
    const project = await projectFor(kv, owner.id, projectId, { least: 'owner' })
    if (owner.email !== null && emailId(owner.email) === emailId(email))
      throw invalid('The project is yours', { field: 'email' })
    const { id, members = [] } = project.value
    const asked = members.filter((member) => emailId(member.email) === emailId(email))
    const known = asked[(await Promise.all(asked.map((member) => hasItsEmail(kv, member)))).indexOf(true)]
    if (known?.role === role) return known
    if (!known && members.length >= MOST_MEMBERS)
      throw forbidden(`A project has ${MOST_MEMBERS} members at most, with those who are invited`)
    if (!known) await checkOffered(kv, owner.id, email)
    const member: Member = known
      ? { ...known, role }
      : { id: uuidv7(now), email, role, added_at: new Date(now).toISOString() }
    const others = members.map((one) => (one === known ? member : one))
    const log = audit('project.share', id, { by, now, detail: `${member.id} ${role}` })
    return (await writeMembers(kv, project, known ? others : [...members, member], { bytes, log })) && member
  }
  return repeated(`data ${owner.id}`, attempt, again)
}

/** Makes a user who is invited a member. @throws ApiError 404 where the user is not invited, 403 where too many projects are shared with the user */
export const acceptShare = (kv: KV, person: Person, projectId: string, memberId: string, act: Act): Promise<Project> =>
  repeated(`data ${person.id}`, async () => {
    const { project, member } = await memberOf(kv, projectId, memberId)
    // One error for all, so that nobody learns which projects there are.
    if (!project || !member || !isOf(member, person)) throw notFound('invitation')
    const { id, user_id: owner, members = [] } = project.value
    if (owner === person.id || !(await getUser(kv, owner))) throw notFound('invitation')
    if (member.user_id !== undefined) return projectView(project.value, person.id)
    // Whoever was a member by an earlier e-mail is one by this from now on.
    const others = members.filter(({ user_id }) => user_id !== person.id)
    const changed = others.map((one) => (one === member ? { ...one, user_id: person.id } : one))
    const written = await writeMembers(kv, project, changed, {
      shared: others.length === members.length ? [{ userId: person.id, more: 1 }] : [],
      log: audit('project.join', id, { ...act, detail: member.id }),
    })
    return written && projectView(written, person.id)
  })

/** Writes a project without some of its members. @returns undefined where it was changed meanwhile */
function without(
  kv: KV,
  project: Entry<StoredProject>,
  isGone: (member: Member) => boolean,
  log?: ReturnType<typeof audit>,
): Promise<StoredProject | undefined> {
  const { members = [] } = project.value
  const gone = members.filter(isGone)
  return writeMembers(
    kv,
    project,
    members.filter((one) => !isGone(one)),
    {
      shared: gone.flatMap(({ user_id }) => (user_id === undefined ? [] : [{ userId: user_id, more: -1 as const }])),
      ...(log && { log }),
    },
  )
}

/**
 * Removes a member, or an invitation: by the owner, or by whom it is for.
 * @throws ApiError 404 where the person has no role in the project, or it has no such member; 403 for members who remove another
 */
export const removeMember = (
  kv: KV,
  person: Person,
  projectId: string,
  memberId: string,
  act: Act,
): Promise<StoredProject> =>
  repeated(`data ${person.id}`, async () => {
    const { project, member } = await memberOf(kv, projectId, memberId)
    if (!member || !isOf(member, person)) await permitted(kv, person.id, project, 'project', { least: 'owner' })
    if (!project || !member) throw notFound('member')
    const { id } = member
    const log = audit('project.unshare', project.value.id, { ...act, detail: id })
    return without(kv, project, (one) => one.id === id, log)
  })

/** What waits for a user, newest first. */
export async function listShares(kv: KV, person: Person, page: Paging): Promise<Page<Share>> {
  if (!person.email) return { items: [] }
  const { items, next } = await pageOfIndex<StoredProject>(
    kv,
    offeredKey(person.email),
    ({ key }) => projectKey(key.at(-1)!),
    { ...page, reverse: true },
  )
  const owners = await userEntries(
    kv,
    items.map(({ user_id }) => user_id),
  )
  const shares = items.flatMap(({ id: project_id, name: project_name, members }, i): Share[] => {
    const [owner, member] = [owners[i]?.value, members?.find((one) => one.user_id === undefined && isOf(one, person))]
    if (owner?.deleted_at !== null || !member) return []
    const { id, role, added_at } = member
    return [{ id, project_id, project_name, owner: owner.email ?? owner.name, role, added_at }]
  })
  return { items: shares, next }
}

/** Ends what is shared with a user who is being erased, or waits for an e-mail. @param prefix the entries that lead to the projects */
async function eraseFrom(kv: KV, prefix: Key, isGone: (member: Member) => boolean): Promise<void> {
  for await (const { key } of entriesOf(kv, prefix))
    await repeated(`shared ${key.at(-1)}`, async () => {
      const project = await kv.get<StoredProject>(projectKey(key.at(-1)!))
      return project?.value.members?.some(isGone) ? without(kv, project, isGone) : {}
    })
}

/** Removes a user from all projects of others. */
export const eraseMember = (kv: KV, userId: string): Promise<void> =>
  eraseFrom(kv, sharedKey(userId), (member) => member.user_id === userId)

/** Removes what waits for whoever has an e-mail. */
export const eraseShares = (kv: KV, email: string): Promise<void> =>
  eraseFrom(kv, offeredKey(email), (member) => member.user_id === undefined && emailId(member.email) === emailId(email))
