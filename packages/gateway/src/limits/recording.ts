import type { FileInput } from '@turnpike/core'
import { LEAST_BYTES_PER_SECOND, MOST_SECONDS, MP3_BYTES_PER_SECOND } from '../conventions.js'
import { BYTES_PER_SECOND } from './prompt.js'

/** Where the first bytes are in which a format is looked for. */
const HEAD = 4_096

/** Some bytes of a file, fewer at its end. */
async function bytesAt(file: FileInput, offset: number): Promise<DataView<ArrayBuffer>> {
  const head = new Uint8Array(HEAD)
  let length = 0
  let position = 0
  for await (const piece of file.read()) {
    const wanted = piece.subarray(Math.max(offset - position, 0)).subarray(0, HEAD - length)
    head.set(wanted, length)
    length += wanted.length
    position += piece.length
    if (length === HEAD) break
  }
  return new DataView(head.buffer, 0, length)
}

const textAt = (bytes: DataView, at: number): string =>
  at + 4 <= bytes.byteLength ? String.fromCharCode(...[0, 1, 2, 3].map((i) => bytes.getUint8(at + i))) : ''

/** PCM of integers and of floats, and the form that names one of them further on (RFC 2361). */
const PCM = [1, 3]
const EXTENSIBLE = 0xfffe

/** The most bytes of a second that recordings have: 192 kHz, eight channels, 32 bits. More would only make them look short. */
const MOST_WAV_RATE = 192_000 * 8 * 4

/** Bytes of a second by the format chunk of a WAV file; undefined where it is not PCM, or of no rate that there is. */
function rateOf(chunk: DataView): number | undefined {
  if (chunk.byteLength < 24) return undefined
  const [given, channels, bits] = [8, 10, 22].map((field) => chunk.getUint16(field, true)) as [number, number, number]
  const format = given === EXTENSIBLE && chunk.byteLength >= 34 ? chunk.getUint16(32, true) : given
  const samples = chunk.getUint32(12, true)
  const isPcm = PCM.includes(format) && [8, 16, 24, 32, 64].includes(bits)
  const rate = (channels * samples * bits) / 8
  return isPcm && rate > 0 && rate <= MOST_WAV_RATE ? rate : undefined
}

/** Likewise by the head of the file, of which decoders take the first format. */
function wavRate(head: DataView): number | undefined {
  if (textAt(head, 8) !== 'WAVE') return undefined
  for (let at = 12; textAt(head, at) !== '' && at + 8 <= head.byteLength;) {
    if (textAt(head, at) === 'fmt ')
      return rateOf(new DataView(head.buffer, head.byteOffset + at, head.byteLength - at))
    const size = head.getUint32(at + 4, true)
    at += 8 + size + (size % 2)
  }
  return undefined
}

/** The length of an ID3 tag with its head, which has it in bytes of seven bits; 0 where there is none. */
function tagLength(head: DataView): number {
  if (!textAt(head, 0).startsWith('ID3') || head.byteLength < 10) return 0
  return 10 + [6, 7, 8, 9].reduce((length, at) => length * 128 + (head.getUint8(at) & 127), 0)
}

/** Whether bytes may begin with a box of MP4: its size, which may look like the beginning of another format, and its name of four letters. */
const mayBeBox = (bytes: DataView): boolean => /^[a-z]{4}$/i.test(textAt(bytes, 4))

/** Whether bytes begin with a frame of MPEG audio, and not of AAC, which has no layer there. */
const isMpegFrame = (bytes: DataView): boolean =>
  bytes.byteLength > 1 && (bytes.getUint16(0) & 0xffe0) === 0xffe0 && (bytes.getUint8(1) & 0b110) !== 0

/** Kilobits a second by the four bits of a frame of layer III, of MPEG 1 and of 2 and 2.5 (ISO/IEC 11172-3, 13818-3). */
const KILOBITS = {
  1: [0, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320, 0],
  2: [0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160, 0],
}

/** Bytes of a second by a frame of MP3; undefined where it tells none. */
function mp3Rate(frame: DataView): number | undefined {
  if (frame.byteLength < 3 || !isMpegFrame(frame)) return undefined
  const isFirst = ((frame.getUint8(1) >> 3) & 3) === 3
  return (KILOBITS[isFirst ? 1 : 2][frame.getUint8(2) >> 4]! * 1_000) / 8 || undefined
}

/** Seconds of a recording. */
export interface Seconds {
  /** What they probably are. */
  likely: number
  /** What encoders make of so many bytes at most. */
  usual: number
  /** What it may be billed for. */
  most: number
}

/**
 * How long a recording is by its bytes: WAV files tell how many of them a second takes. MP3 takes at least so many, and frames that follow the first
 * may have other rates. Of what is compressed in other ways they tell no most.
 */
export async function secondsOf(file: FileInput): Promise<Seconds> {
  const bySize = (bytesPerSecond: number): number => Math.ceil(file.size / bytesPerSecond)
  const bounded = (rate: number | undefined, least: number): Seconds => ({
    likely: bySize(rate ?? BYTES_PER_SECOND),
    usual: bySize(least),
    most: bySize(least),
  })
  const head = await bytesAt(file, 0)
  const rate = textAt(head, 0) === 'RIFF' && !mayBeBox(head) ? wavRate(head) : undefined
  if (rate !== undefined) return bounded(rate, rate)
  const tag = tagLength(head)
  const frame = tag === 0 ? head : await bytesAt(file, tag)
  if (isMpegFrame(frame) && !mayBeBox(frame)) return bounded(mp3Rate(frame), MP3_BYTES_PER_SECOND)
  return { ...bounded(undefined, LEAST_BYTES_PER_SECOND), most: MOST_SECONDS }
}

/** Bytes of a second of speech, by the subtype of its format, where its head does not tell: PCM of 24 kHz, and what encoders make of it. */
const SPOKEN: Record<string, number> = { wav: 48_000, flac: 24_000, mpeg: 16_000, aac: 8_000, ogg: 6_000 }

/** How many seconds speech has lasted, by its bytes. @param first its first bytes */
export function spokenSeconds(first: Uint8Array, size: number, contentType: string): number {
  const head = new DataView(first.buffer, first.byteOffset, Math.min(first.length, HEAD))
  const subtype = /^audio\/(\w+)/.exec(contentType)?.[1] ?? ''
  const told = textAt(head, 0) === 'RIFF' ? wavRate(head) : mp3Rate(head)
  return size / (told ?? SPOKEN[subtype] ?? BYTES_PER_SECOND)
}
