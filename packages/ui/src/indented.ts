/** What is longer or deeper is shown as it is: each level makes its lines longer. */
const MOST_CHARACTERS = 20_000
const MOST_DEEP = 32

/** How many lists and objects are within each other. */
function depthOf(json: string): number {
  let [depth, most] = [0, 0]
  for (const [sign] of json.replaceAll(/"(?:[^"\\]|\\.)*"/g, '').matchAll(/[[\]{}]/g)) {
    depth += sign === '[' || sign === '{' ? 1 : -1
    most = Math.max(most, depth)
  }
  return most
}

/** JSON with a line for each value, as a person reads it. @throws SyntaxError for what is none */
export const indented = (json: string): string =>
  json.length > MOST_CHARACTERS || depthOf(json) > MOST_DEEP ? json : JSON.stringify(JSON.parse(json), null, 2)
