import { describe, expect, it } from 'vitest'
import { MOST_SECONDS } from '../conventions.js'
import { secondsOf, spokenSeconds } from './recording.js'

/** A file of pieces, the last of which is made as long as it is to be. */
function file(size: number, ...pieces: Uint8Array[]) {
  const rest = size - pieces.reduce((sum, { length }) => sum + length, 0)
  const all = [...pieces, new Uint8Array(rest)]
  return {
    name: 'a',
    type: '',
    size,
    async *read() {
      yield* all
    },
  }
}
const most = async (of: ReturnType<typeof file>) => (await secondsOf(of)).most
const text = (value: string) => new TextEncoder().encode(value)

/** The head of a WAV file, behind other chunks. */
function wav({ format = 1, channels = 1, rate = 16_000, bits = 16, before = 0, named = 0 } = {}): Uint8Array {
  const bytes = new DataView(new ArrayBuffer(48 + (before && 8 + before)))
  const put = (at: number, value: string): void => text(value).forEach((byte, i) => bytes.setUint8(at + i, byte))
  put(0, 'RIFF')
  put(8, 'WAVE')
  let at = 12
  if (before) {
    put(at, 'JUNK')
    bytes.setUint32(at + 4, before, true)
    at += 8 + before
  }
  put(at, 'fmt ')
  bytes.setUint32(at + 4, 16, true)
  bytes.setUint16(at + 8, format, true)
  bytes.setUint16(at + 10, channels, true)
  bytes.setUint32(at + 12, rate, true)
  bytes.setUint16(at + 22, bits, true)
  bytes.setUint16(at + 32, named, true)
  return new Uint8Array(bytes.buffer)
}

describe('the longest that a recording may last', () => {
  it.each<[string, Uint8Array[], number]>([
    ['WAV', [wav()], 1_000_000 / 32_000],
    ['WAV in stereo with floats', [wav({ format: 3, channels: 2, rate: 48_000, bits: 32 })], 1_000_000 / 384_000],
    ['WAV behind another chunk', [wav({ before: 28 })], 1_000_000 / 32_000],
    ['WAV with a byte an hour', [wav({ rate: 20, bits: 8 })], 1_000_000 / 20],
    ['WAV that is compressed', [wav({ format: 49 })], MOST_SECONDS],
    ['WAV that names GSM further on', [wav({ format: 0xfffe, named: 49 })], MOST_SECONDS],
    ['WAV that names PCM further on', [wav({ format: 0xfffe, named: 1 })], 1_000_000 / 32_000],
    ['WAV of strange bits', [wav({ bits: 65_528 })], MOST_SECONDS],
    ['WAV of too many channels', [wav({ channels: 255 })], MOST_SECONDS],
    ['WAV of too many samples', [wav({ rate: 4_294_967_295 })], MOST_SECONDS],
    ['WAV of more bytes a second than there are', [wav({ channels: 32, rate: 768_000, bits: 64 })], MOST_SECONDS],
    ['RIFF that is no WAV', [wav().fill(0x41, 8, 12)], MOST_SECONDS],
    ['WAV of rate 0', [wav({ rate: 0 })], MOST_SECONDS],
    ['a head that is cut', [wav().subarray(0, 30)], MOST_SECONDS],
    ['chunks without end', [wav({ before: 5_000 })], MOST_SECONDS],
    ['MP3', [Uint8Array.of(0xff, 0xfb, 0x90)], 1_000_000 / 1_000],
    ['MP3 in small pieces', [Uint8Array.of(0xff), Uint8Array.of(0xf3)], 1_000_000 / 1_000],
    ['MP3 behind a tag', [text('ID3\u0004\0\0\0\0\u0040\0'), new Uint8Array(8_192), Uint8Array.of(0xff, 0xfb)], 1_000],
    ['something else behind a tag', [text('ID3\u0004\0\0\0\0\0\u0002'), text('xxOggS')], MOST_SECONDS],
    ['AAC', [Uint8Array.of(0xff, 0xf1, 0x50)], MOST_SECONDS],
    ['WebM', [Uint8Array.of(0x1a, 0x45, 0xdf, 0xa3)], MOST_SECONDS],
    ['WAV whose size is the name of a box', [wav().fill(0x6d, 4, 8)], MOST_SECONDS],
    ['MP4', [text('\0\0\0\u0020ftypM4A ')], MOST_SECONDS],
    [
      'MP4 whose first box is of a size like a frame of MP3',
      [Uint8Array.of(0xff, 0xfb, 0x90, 0x64), text('moov')],
      MOST_SECONDS,
    ],
    [
      'such a box behind a tag',
      [text('ID3\u0004\0\0\0\0\0\0'), Uint8Array.of(0xff, 0xfb, 0x90, 0x64), text('free')],
      MOST_SECONDS,
    ],
  ])('%s', async (_, pieces, seconds) => {
    expect(await most(file(1_000_000, ...pieces))).toBe(Math.ceil(seconds))
  })

  it('of a file of one byte', async () => {
    expect(await secondsOf(file(1, Uint8Array.of(0xff)))).toEqual({ likely: 1, usual: 1, most: MOST_SECONDS })
  })
})

describe('how long speech has lasted', () => {
  it.each<[string, Uint8Array, string, number]>([
    ['WAV by its head', wav({ rate: 8_000 }), 'audio/wav', 1_000_000 / 16_000],
    ['WAV without one', new Uint8Array(4), 'audio/wav', 1_000_000 / 48_000],
    ['MP3 of MPEG 1, 128 kbit/s', Uint8Array.of(0xff, 0xfb, 0x90), 'audio/mpeg', 1_000_000 / 16_000],
    ['MP3 of MPEG 2, 32 kbit/s', Uint8Array.of(0xff, 0xf3, 0x44), 'audio/mpeg', 1_000_000 / 4_000],
    ['MP3 of a free rate', Uint8Array.of(0xff, 0xfb, 0x00), 'audio/mpeg', 1_000_000 / 16_000],
    ['MP3 that is cut', Uint8Array.of(0xff), 'audio/mpeg', 1_000_000 / 16_000],
    ['Opus', text('OggS'), 'audio/ogg; codecs=opus', 1_000_000 / 6_000],
    ['something else', new Uint8Array(), '', 1_000_000 / 16_000],
  ])('%s', (_, first, type, seconds) => expect(spokenSeconds(first, 1_000_000, type)).toBeCloseTo(seconds))
})
