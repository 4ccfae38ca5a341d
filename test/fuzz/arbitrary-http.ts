/** Requests of the operations of an OpenAPI document as fast-check arbitraries. */
import * as fc from 'fast-check'
import type { Change } from './arbitrary-json.js'
import { change, known, valuesOf } from './arbitrary-json.js'
import type { JunkBody, Text } from './http-junk.js'
import { broken, junkBody, junkHeader, junkQuery, lost, methods, often, record, wrongTypes } from './http-junk.js'
import type { Credential, Documented, Operation, Parameter, Role } from './http-operations.js'
import { credentials } from './http-operations.js'

/** A body of a schema. */
export interface SchemaBody {
  type: string
  value: unknown
  changes: Change[]
  /** The length at which it ends too early. */
  cut: number | null
}

export type Body = SchemaBody | JunkBody

/** A request before it is known who sends it. */
export interface Plan {
  operation: Operation
  method: string
  /** What stands for the parameters of the path. */
  params: Record<string, Text>
  /** Behind the path. */
  suffix: string
  query: [string, Text][]
  headers: [string, Text][]
  who: { role: Role; by: Credential } | string | null
  body: Body | null
  /** Whether the body is sent without its length. */
  chunked: boolean
}

/** The requests of each operation. @param isKnown whether people have a value of this name */
export function requestsOf(
  operations: Operation[],
  document: Parameters<typeof valuesOf>[0],
  isKnown: (name: string) => boolean,
): fc.Arbitrary<Plan>[] {
  const valueOf = valuesOf(document, isKnown)

  const textOf = ({ name, schema }: Parameter): fc.Arbitrary<Text> => {
    const value = valueOf(schema).map(String)
    return isKnown(name) ? often<Text>(6, known(name), value) : value
  }

  const declared = (all: Parameter[]): fc.Arbitrary<[string, Text][]> =>
    fc
      .tuple(
        ...all.map((parameter) =>
          fc.option(
            textOf(parameter).map((text): [string, Text] => [parameter.name, text]),
            { freq: parameter.required ? 15 : 1 },
          ),
        ),
      )
      .map((pairs) => pairs.filter((pair) => pair !== null))

  const withJunk = (usual: fc.Arbitrary<[string, Text][]>, junk: fc.Arbitrary<[string, Text]>) =>
    fc
      .tuple(usual, often(4, fc.constant<[string, Text][]>([]), fc.array(junk, { minLength: 1, maxLength: 2 })))
      .map((parts) => parts.flat())

  const bodyOf = ({ requestBody }: Documented): fc.Arbitrary<Body | null> => {
    if (!requestBody) return often<Body | null>(12, fc.constant(null), junkBody)
    const bodies = Object.entries(requestBody.content).map(([type, { schema }]) =>
      record<SchemaBody>({
        type: often(20, fc.constant(type), wrongTypes),
        value: valueOf(schema),
        changes: often(2, fc.constant<Change[]>([]), fc.array(change, { minLength: 1, maxLength: 3 })),
        cut: often<number | null>(20, fc.constant(null), fc.nat(500)),
      }),
    )
    return often<Body | null>(14, fc.oneof(...bodies), often<Body | null>(3, junkBody, fc.constant(null)))
  }

  const whoOf = ({ credentials: taken }: Operation) => {
    const signedIn = (ways: Credential[]) =>
      record({
        role: fc.constantFrom<Role[]>('developer', 'admin', 'user', 'developer', 'admin', 'admin'),
        by: fc.constantFrom(...ways),
      })
    return often<Plan['who']>(8, signedIn(taken), fc.oneof(signedIn(credentials), fc.constant(null), broken))
  }

  return operations.map((operation) => {
    const { documented, method, path } = operation
    const of = (where: Parameter['in']): Parameter[] => (documented.parameters ?? []).filter((it) => it.in === where)
    // What is known of a parameter of the path is by the collection before it.
    const params = [...path.matchAll(/\{(\w+)\}/g)].map(({ 1: name, index }) => [
      name!,
      often<Text>(6, known(path.slice(0, index - 1)), lost),
    ])
    const address = fc.ipV4().map((ip): [string, Text] => ['x-forwarded-for', ip])
    return record<Plan>({
      operation: fc.constant(operation),
      method: often(12, fc.constant(method), fc.constantFrom(...methods)),
      params: record(Object.fromEntries(params) as Record<string, fc.Arbitrary<Text>>),
      suffix: often<string>(25, fc.constant(''), fc.constantFrom('/', '/x', '//', '%', '%00', '.json')),
      query: withJunk(declared(of('query')), junkQuery),
      headers: fc.tuple(address, withJunk(declared(of('header')), junkHeader)).map(([first, rest]) => [first, ...rest]),
      who: whoOf(operation),
      body: bodyOf(documented),
      chunked: often(8, fc.constant(false), fc.constant(true)),
    })
  })
}
