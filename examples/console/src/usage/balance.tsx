import type { Schemas } from '@turnpike/client'
import { BudgetBar, budgetRest, budgetUse, dayAndTime, Figure, linkTo, Loaded, Panel, useData } from '@turnpike/ui'
import { budgetRenewal } from '@turnpike/ui/usage'
import { account, turnpike } from '../turnpike.js'
import { credits, tokensOf } from '../units.js'

type Budgeted = Pick<Schemas['GatewayKey'], 'budget' | 'budget_used_usd'>

/** What the credits are for. */
const policies = {
  report: 'Your requests use credits up, and go on when none are left.',
  enforce: 'Your requests use credits up, and are refused when none are left.',
}

/** A budget as a bar, with what is left of it, and when it begins anew. */
function Budget({ name, of: { budget, budget_used_usd: used } }: { name: string; of: Budgeted }) {
  const { per } = budget!
  return (
    <Figure
      name={name}
      value={`${budgetRest({ budget: budget!, used })} left`}
      detail={budgetUse({ budget: budget!, used })}
    >
      <BudgetBar budget={budget!} used={used} />
      {per ? `Begins anew ${dayAndTime(new Date(budgetRenewal(per, Date.now())).toISOString())}` : 'For all time'}
    </Figure>
  )
}

/** The budgets of the user and of the keys, and the credits; nothing where there are none. */
export function Balance() {
  const isDeveloper = account.value!.role !== 'user'
  const data = useData(
    (signal) =>
      Promise.all([
        turnpike.get('/api/account', { signal }),
        turnpike.get('/api/account/limits', { signal }),
        turnpike.get('/api/account/balance', { signal }),
        isDeveloper ? turnpike.get('/api/keys', { signal }) : [],
      ]),
    [],
  )
  return (
    <Loaded data={data}>
      {([user, { balance_policy: policy }, { credit_coins: left }, keys]) => {
        const budgeted = keys.filter(({ budget, revoked }) => budget && !revoked)
        if (!user.budget && budgeted.length === 0 && policy === 'off') return null
        return (
          <Panel title="What you may still use">
            <dl class="figures inside">
              {user.budget && <Budget name="Your budget" of={user} />}
              {policy !== 'off' && (
                <Figure name="Credits" value={credits(left)} detail={`= ${tokensOf(left)}`}>
                  {policies[policy]}
                </Figure>
              )}
              {budgeted.map((key) => (
                <Budget key={key.id} name={`Key ${key.name}`} of={key} />
              ))}
            </dl>
            {budgeted.length > 0 && (
              <p class="foot small">
                <a href={linkTo('/keys')}>Change the budgets of your keys</a>
              </p>
            )}
          </Panel>
        )
      }}
    </Loaded>
  )
}
