import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { expect } from 'vitest'

/** What there is to be known of a kind of file: its first bytes, and what tools call it. */
interface Kind {
  magic: RegExp
  /** By `file`. */
  mime: RegExp
  /** By `ffprobe`. */
  codec: string
}

const kinds = {
  // Of the signature and the length of the header, what is no control character.
  png: { magic: /^\x89PNG\r\n.\n...\rIHDR/s, mime: /^image\/png$/, codec: 'png' },
  mp3: { magic: /^(ID3|\xff[\xe2-\xff])/, mime: /^audio\/mpeg$/, codec: 'mp3' },
  opus: { magic: /^OggS.{24}OpusHead/s, mime: /^audio\/ogg$/, codec: 'opus' },
  aac: { magic: /^\xff[\xf0\xf1\xf8\xf9]/, mime: /^audio\/x-hx-aac-adts$/, codec: 'aac' },
  flac: { magic: /^fLaC/, mime: /^audio\/(x-)?flac$/, codec: 'flac' },
  wav: { magic: /^RIFF.{4}WAVEfmt /s, mime: /^audio\/(x-)?wav$/, codec: 'pcm_s16le' },
} satisfies Record<string, Kind>

export type MediaKind = keyof typeof kinds

const tools = {
  file: (path: string) => ['--brief', '--mime-type', path],
  ffprobe: (path: string) => ['-v', 'error', '-show_entries', 'stream=codec_name', '-of', 'csv=p=0', path],
}

const run = (tool: keyof typeof tools, path: string): string =>
  execFileSync(tool, tools[tool](path), { encoding: 'utf8' }).trim()

/** The tools that this machine has. */
const installed = (Object.keys(tools) as (keyof typeof tools)[]).filter((tool) => {
  try {
    execFileSync(tool, [tool === 'file' ? '--version' : '-version'], { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
})
console.log(`Files are checked by ${['their first bytes', ...installed].join(', ')}`)

/** Expects a file to be of a kind, to everybody who can tell. */
export function expectKind(path: string, kind: MediaKind): void {
  const { magic, mime, codec } = kinds[kind]
  expect(readFileSync(path).toString('latin1')).toMatch(magic)
  if (installed.includes('file')) expect(run('file', path)).toMatch(mime)
  if (installed.includes('ffprobe')) expect(run('ffprobe', path)).toBe(codec)
}
