import { createHash, randomBytes, randomUUID, scrypt, timingSafeEqual } from 'node:crypto'
import { promisify } from 'node:util'
import { Pool } from 'pg'

/** The application's own database; Turnpike has a table of its own in it. */
export const pool = new Pool({
  connectionString: process.env.DATABASE_URL ?? 'postgres://postgres@localhost:5432/postgres',
})

/** A customer of the application. */
export interface Customer {
  id: string
  email: string
  plan: 'free' | 'pro'
}

await pool.query(`
  CREATE TABLE IF NOT EXISTS customers (id text PRIMARY KEY, email text UNIQUE NOT NULL, password text NOT NULL, plan text NOT NULL);
  CREATE TABLE IF NOT EXISTS logins (token bytea PRIMARY KEY, customer_id text NOT NULL REFERENCES customers);
`)

const scryptAsync = promisify<string, string, number, Buffer>(scrypt)
const hash = async (password: string, salt = randomBytes(16).toString('hex')): Promise<string> =>
  `${salt}:${(await scryptAsync(password, salt, 32)).toString('hex')}`
/** What an unknown e-mail is compared with, so that it takes as long as a wrong password. */
const nobodys = await hash(randomUUID())
const stored = (token: string): Buffer => createHash('sha256').update(token).digest()

/** Null where the e-mail is taken. */
export async function signUp(email: string, password: string): Promise<Customer | null> {
  const customer: Customer = { id: randomUUID(), email, plan: 'free' }
  const { rowCount } = await pool.query(
    'INSERT INTO customers (id, email, password, plan) VALUES ($1, $2, $3, $4) ON CONFLICT DO NOTHING',
    [customer.id, email, await hash(password), customer.plan],
  )
  return rowCount === 1 ? customer : null
}

/** The value of a new session cookie; null for a wrong password. */
export async function signIn(email: string, password: string): Promise<string | null> {
  const { rows } = await pool.query<{ id: string; password: string }>(
    'SELECT id, password FROM customers WHERE email = $1',
    [email],
  )
  const customer = rows[0]
  const known = customer?.password ?? nobodys
  const given = await hash(password, known.split(':')[0]!)
  if (!timingSafeEqual(Buffer.from(given), Buffer.from(known)) || !customer) return null
  const token = randomBytes(32).toString('base64url')
  await pool.query('INSERT INTO logins (token, customer_id) VALUES ($1, $2)', [stored(token), customer.id])
  return token
}

/** Whose session cookie this is; undefined for nobody's. */
export async function customerOf(token: string): Promise<Customer | undefined> {
  const { rows } = await pool.query<Customer>(
    'SELECT id, email, plan FROM customers JOIN logins ON customer_id = id WHERE token = $1',
    [stored(token)],
  )
  return rows[0]
}

export async function changePlan(id: string, plan: Customer['plan']): Promise<void> {
  await pool.query('UPDATE customers SET plan = $2 WHERE id = $1', [id, plan])
}
