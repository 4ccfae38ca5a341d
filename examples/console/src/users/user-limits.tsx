import type { OnChange } from '@turnpike/ui'
import { BudgetFields, budgetIn, BudgetUse, Form, numberIn, TokenLimitField, useSave } from '@turnpike/ui'
import type { User } from '../turnpike.js'
import { turnpike } from '../turnpike.js'

/** The budget and the tokens a minute of a user, as fields of a form. @param user absent for a new one */
export const UserLimitFields = ({ user }: { user?: User }) => (
  <>
    <BudgetFields budget={user?.budget} />
    <TokenLimitField value={user?.token_limit} />
  </>
)

/** What {@link UserLimitFields} say; null = no limit. */
export const userLimitsIn = (fields: FormData) => ({
  budget: budgetIn(fields),
  tokenLimit: numberIn(fields, 'tokenLimit'),
})

/** The limits of a user on all their requests, with what is used of the budget. */
export function UserLimits({ user, onChange }: { user: User; onChange: OnChange }) {
  const shown = { budget: user.budget ?? null, tokenLimit: user.token_limit ?? null }
  const save = useSave(shown, userLimitsIn, async (body) => {
    await turnpike.patch('/api/users/{id}', { params: { id: user.id }, body })
    onChange()
  })
  return (
    <div class="stack">
      <h3>Limits</h3>
      <p class="muted small">On all requests of the user together, with any key and in the browser.</p>
      {user.budget && <BudgetUse budget={user.budget} used={user.budget_used_usd} />}
      <Form action={save} label="Save limits" done="The limits are changed.">
        <UserLimitFields user={user} />
      </Form>
    </div>
  )
}
