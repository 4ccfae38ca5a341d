/** A second of silence in each speech format, as complete, playable files. @module */
import { toWav } from '../answers/wav.js'

/** Sample rate in Hz, the same for OpenAI and Google. */
const SAMPLE_RATE = 24_000

const fromHex = (hex: string): number[] => Array.from(hex.match(/\w\w/g)!, (byte) => Number.parseInt(byte, 16))

const ascii = (text: string): number[] => Array.from(text, (letter) => letter.charCodeAt(0))

const repeated = (bytes: number[], times: number): number[] => Array.from({ length: times }, () => bytes).flat()

/** A second of raw 16-bit little-endian mono samples. */
export const pcm = (): Uint8Array => new Uint8Array(SAMPLE_RATE * 2)

const wav = (): Uint8Array => toWav(pcm(), SAMPLE_RATE)

/** Frames of MPEG-2 layer III with 32 kbit/s, 96 bytes and 576 samples each; all zero is silence. */
const mp3 = (): Uint8Array => Uint8Array.from(repeated([...fromHex('fff344c4'), ...repeated([0], 92)], 42))

/** ADTS frames of AAC-LC with 1024 samples each: a channel element without bands, and the end element. */
const aac = (): Uint8Array => Uint8Array.from(repeated(fromHex('fff1584001 7ffc 00000007'), 24))

/** The STREAMINFO block, and one frame of 24,000 samples whose only subframe is a constant. */
const flac = (): Uint8Array =>
  Uint8Array.from([
    ...ascii('fLaC'),
    ...fromHex('80000022 5dc05dc0 000000000000 05dc00f000005dc0 00000000000000000000000000000000'),
    ...fromHex('fff87708005dbfe2 000000 a707'),
  ])

/** Three Ogg pages, the last of which has 50 packets of 20 ms; the checksum of each is in its head. */
const opus = (): Uint8Array =>
  Uint8Array.from([
    ...fromHex('4f67675300020000000000000000010000000000 0000c51aadf70113'),
    ...ascii('OpusHead'),
    ...fromHex('01010000c05d0000000000'),
    ...fromHex('4f67675300000000000000000000010000000100 0000f891dbff0118'),
    ...ascii('OpusTags'),
    ...fromHex('08000000'),
    ...ascii('turnpike'),
    ...fromHex('00000000'),
    ...fromHex('4f676753000480bb000000000000010000000200 0000e95433c632'),
    ...repeated([3], 50),
    ...repeated(fromHex('f8fffe'), 50),
  ])

/** The encoders by format. */
export const silence = { mp3, opus, aac, flac, wav, pcm }
