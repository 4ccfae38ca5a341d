const crc32 = (bytes: Uint8Array): number => {
  let crc = -1
  for (const byte of bytes) {
    crc ^= byte
    for (let bit = 0; bit < 8; bit++) crc = crc & 1 ? (crc >>> 1) ^ 0xedb88320 : crc >>> 1
  }
  return ~crc >>> 0
}

const adler32 = (bytes: number[]): number => {
  let [low, high] = [1, 0]
  for (const byte of bytes) {
    low = (low + byte) % 65_521
    high = (high + low) % 65_521
  }
  return high * 65_536 + low
}

const uint32 = (value: number): number[] => [value >>> 24, (value >>> 16) & 255, (value >>> 8) & 255, value & 255]
const uint16LE = (value: number): number[] => [value & 255, value >>> 8]
const ascii = (text: string): number[] => Array.from(text, (letter) => letter.charCodeAt(0))

/** Encodes a chunk: length, type, data, and a checksum of type and data. */
function chunk(type: string, data: number[]): number[] {
  const body = [...ascii(type), ...data]
  return [...uint32(data.length), ...body, ...uint32(crc32(Uint8Array.from(body)))]
}

/** A PNG of 8 by 8 pixels in one color, with components from 0 to 255. */
export function png(red: number, green: number, blue: number): Uint8Array {
  // 8 bits per component, RGB, not interlaced. Each row begins with its filter type, here none.
  const header = [...uint32(8), ...uint32(8), 8, 2, 0, 0, 0]
  const row = [0, ...Array.from({ length: 8 }, () => [red, green, blue]).flat()]
  const rows = Array.from({ length: 8 }, () => row).flat()
  // Deflate with a single stored block, which needs no compressor.
  const stored = [1, ...uint16LE(rows.length), ...uint16LE(~rows.length & 0xffff), ...rows]
  const data = [0x78, 0x01, ...stored, ...uint32(adler32(rows))]
  const signature = [0x89, ...ascii('PNG\r\n'), 0x1a, 0x0a]
  return Uint8Array.from([...signature, ...chunk('IHDR', header), ...chunk('IDAT', data), ...chunk('IEND', [])])
}
