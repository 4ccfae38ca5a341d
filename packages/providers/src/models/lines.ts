import { undated } from '@turnpike/core/internal'

/** What the versions of a model share: `gpt-mini` of `gpt-5.4-mini`, `claude-sonnet` of `claude-sonnet-4-6`, `gemini-pro` of `gemini-3.1-pro-preview`. */
export const lineOf = (id: string): string =>
  undated(id)
    .replace(/[-.]?\d+/g, '')
    .replace('-preview', '')

/** The version in an id, in hundredths: 510 of `gpt-5.10-mini`, 405 of `claude-sonnet-4-5`, 400 of `gpt-4o`; 0 without one. */
export function versionOf(id: string): number {
  const [, major, minor = 0] = /(\d+)(?:[.-](\d{1,2})(?!\d))?/.exec(undated(id)) ?? []
  return major === undefined ? 0 : Number(major) * 100 + Number(minor)
}
