/** How many colours avatars have: `.avatar.c0` and so on. */
const COLOURS = 8

/** The initials of a name, two at most: `CR` of `Code reviewer`. */
const initials = (name: string): string =>
  name
    .split(/\s+/)
    .filter(Boolean)
    .slice(0, 2)
    .map((word) => [...word][0]!.toUpperCase())
    .join('')

/** A number from 0 to 7 that is always the same for a name. */
const colourOf = (name: string): number =>
  [...name].reduce((sum, letter) => (sum * 31 + letter.codePointAt(0)!) % 9_973, 7) % COLOURS

/** Who works on a task: initials in a colour of their own. The name stands beside it, or is its title. @param name undefined = nobody */
export const Avatar = ({ name }: { name: string | undefined }) => (
  <span class={`avatar ${name === undefined ? '' : `c${colourOf(name)}`}`} title={name ?? 'Nobody'} aria-hidden="true">
    {name === undefined ? '–' : initials(name)}
  </span>
)
