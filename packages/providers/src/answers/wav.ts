import { concat } from '@turnpike/core/helpers'

const HEADER = 44

/** A WAV file of 16-bit mono samples. @param rate samples per second */
export function toWav(samples: Uint8Array, rate: number): Uint8Array {
  const header = new DataView(new ArrayBuffer(HEADER))
  const text = (at: number, word: string): void => {
    for (let i = 0; i < word.length; i++) header.setUint8(at + i, word.charCodeAt(i))
  }
  text(0, 'RIFF')
  header.setUint32(4, HEADER - 8 + samples.length, true)
  text(8, 'WAVEfmt ')
  header.setUint32(16, 16, true)
  // Uncompressed, one channel.
  header.setUint16(20, 1, true)
  header.setUint16(22, 1, true)
  header.setUint32(24, rate, true)
  header.setUint32(28, rate * 2, true)
  header.setUint16(32, 2, true)
  header.setUint16(34, 16, true)
  text(36, 'data')
  header.setUint32(40, samples.length, true)
  return concat([new Uint8Array(header.buffer), samples], HEADER + samples.length)
}
