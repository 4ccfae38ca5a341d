import type { Request } from 'express'
import express from 'express'
import { parseCookies } from '@turnpike/http'
import type { Customer } from './customers.js'
import { changePlan, customerOf, signIn, signUp } from './customers.js'
import { home, signInForm, usagePage } from './pages.js'
import { budgets, gateway, identity, platform } from './turnpike.js'

const app = express()
// The gateway for whoever has the cookie of the application, and the platform: projects, tasks, conversations, files.
app.use('/ai', gateway.as(identity).node)
app.use(platform.node)

// Everything from here on is the application's own. Body parsers come behind Turnpike, which reads bodies itself.
app.use(express.urlencoded({ extended: false }))

const cookie = { httpOnly: true, sameSite: 'strict', secure: process.env.NODE_ENV === 'production' } as const

/** Who is signed in. */
async function caller(request: Request): Promise<Customer | undefined> {
  const token = parseCookies(request.headers.cookie).get('shop_session')
  return token === undefined ? undefined : customerOf(token)
}

app.post('/sign-up', async ({ body }, response) => {
  const { email, password } = (body ?? {}) as Record<string, string>
  if (!email || !password || !(await signUp(email, password)))
    return void response.status(400).send(signInForm('Choose another e-mail'))
  response.cookie('shop_session', await signIn(email, password), cookie).redirect(303, '/')
})

app.post('/sign-in', async ({ body }, response) => {
  const { email = '', password = '' } = (body ?? {}) as Record<string, string>
  const token = await signIn(email, password)
  if (!token) return void response.status(401).send(signInForm('Wrong e-mail or password'))
  response.cookie('shop_session', token, cookie).redirect(303, '/')
})

app.get('/', async (request, response) => {
  const customer = await caller(request)
  response.send(customer ? home(customer) : signInForm())
})

// What the customer has spent, from the ledger that the gateway writes.
app.get('/usage', async (request, response) => {
  const customer = await caller(request)
  if (!customer) return void response.redirect(303, '/')
  const { id, plan } = customer
  const [used, { items }] = await Promise.all([
    gateway.ledger.used({ of: 'user', id, budget: budgets[plan] }),
    gateway.ledger.records(id, { limit: 20 }),
  ])
  response.send(usagePage(customer, budgets[plan], used, items))
})

// The budget of a user follows the plan: the profile counts only when the user is made.
app.post('/plan', async (request, response) => {
  const customer = await caller(request)
  if (!customer) return void response.redirect(303, '/')
  await changePlan(customer.id, 'pro')
  await platform.operations.users.update(customer.id, { budget: budgets.pro })
  response.redirect(303, '/usage')
})

app.listen(process.env.PORT ?? 8787, () => console.log(`My shop: http://127.0.0.1:${process.env.PORT ?? 8787}/`))
