interface Surface {
  module: string
  exports: { name: string; isType: boolean }[]
}

/** What examples take for granted: what their readers have made before, in their own program. */
const given =
  `adapter agent apiKey app audience body build bytes byPassword call caller change clientId clientSecret connection controller
  driver entry error etag eventStream exchange folder gateway handle hello http id identified identity issuer isHarmful jwksUrl key listOf mcpClient next
  options out outgoing page password path platform pool price probe provider proxied query request response router routes secret servable server size
  spec svg target task text to token toCompletion units upstream url usage usageOf user userIdOf value vendor version Bun Deno client redis database
  authenticator kv publicKey env v document open createStorage fsDriver redisDriver Redis Pool readFileSync createReadStream createInterface it blobs
  endpoint accessKeyId secretAccessKey headers myAdapter baseURL providers yaml read`.split(/\s+/)

const wordsOf = (text: string): string[] => text.match(/[A-Za-z_$][\w$]*/g) ?? []

/** The names that a program declares. */
const declaredIn = (program: string): string[] =>
  [...program.matchAll(/\b(?:const|let|function)\s+(\{[^}]*\}|\[[^\]]*\]|\w+)/g)].flatMap(([, names]) =>
    wordsOf(names!),
  )

/** A program of an example, with imports of what it uses of the packages, those of its own before all, and declarations of what it takes for granted. */
export function exampleProgram(example: string, module: string, modules: Surface[]): string {
  const words = new Set(wordsOf(example))
  const known = new Set(declaredIn(example))
  const lines: string[] = []
  for (const { module: from, exports } of modules.toSorted(
    (a, b) => Number(b.module === module) - Number(a.module === module),
  ))
    for (const { name, isType } of exports)
      if (words.has(name) && !known.has(name)) {
        known.add(name)
        lines.push(`import ${isType ? 'type ' : ''}{ ${name} } from '${from}'`)
      }
  for (const name of given) if (words.has(name) && !known.has(name)) lines.push(`declare const ${name}: any`)
  return [...lines, example].join('\n')
}
