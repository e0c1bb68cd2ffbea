const POLYNOMIAL = 0xedb88320

const TABLE = Uint32Array.from({ length: 256 }, (_, byte) => {
  let rest = byte
  for (let bit = 0; bit < 8; bit += 1) {
    rest = (rest & 1) === 1 ? (rest >>> 1) ^ POLYNOMIAL : rest >>> 1
  }
  return rest
})

/** CRC-32 (that of zip and Ethernet) of ASCII text, as an unsigned number. */
export function crc32(ascii: string): number {
  let rest = 0xffffffff
  for (let at = 0; at < ascii.length; at += 1) {
    rest = (rest >>> 8) ^ (TABLE[(rest ^ ascii.charCodeAt(at)) & 0xff] as number)
  }
  return (rest ^ 0xffffffff) >>> 0
}
