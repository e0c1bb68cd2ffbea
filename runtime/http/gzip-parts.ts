import { constants, crc32, deflateRawSync } from 'node:zlib'

/** Bytes that bodies share, as they are and deflated. */
export interface BodyPart {
  readonly bytes: Uint8Array
  /** The bytes as blocks of DEFLATE (RFC 1951) that end on a byte and refer to nothing before them. */
  readonly deflated: Uint8Array
  /** CRC-32 of `bytes`, unsigned. */
  readonly crc32: number
  /** By what the CRC-32 of text before `bytes` is multiplied. */
  readonly shift: number
}

/** Deflates the bytes, fewer than 512 MiB, at the fastest level, so that they can stand anywhere in a body. */
export function bodyPart(bytes: Uint8Array): BodyPart {
  const deflated = new Uint8Array(deflateRawSync(bytes, INDEPENDENT))
  return { bytes, deflated, crc32: crc32(bytes), shift: powerOfX(8 * bytes.length) }
}

/** The parts after each other as one gzip member (RFC 1952), in pieces. Nothing is deflated, and nothing copied. */
export function gzipOf(parts: readonly BodyPart[]): Uint8Array[] {
  let sum = 0
  let length = 0
  for (const { bytes, crc32, shift } of parts) {
    sum = (multiply(sum, shift) ^ crc32) >>> 0
    length += bytes.length
  }
  const trailer = Buffer.allocUnsafe(8)
  trailer.writeUInt32LE(sum, 0)
  trailer.writeUInt32LE(length % 2 ** 32, 4)
  return [HEADER, ...parts.map(({ deflated }) => deflated), LAST_BLOCK, trailer]
}

/** A full flush after each part: the blocks end on a byte, and the next ones refer to nothing before. */
const INDEPENDENT = { level: constants.Z_BEST_SPEED, finishFlush: constants.Z_FULL_FLUSH }
/** Method DEFLATE, no flags, no time, the fastest level, no known system. */
const HEADER = Uint8Array.from([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 4, 255])
/** An empty block that is marked as the last. */
const LAST_BLOCK = deflateRawSync(new Uint8Array(0))

/*
 * The CRC-32 of two texts after each other is that of the first, times x to the power of the second one's bits, plus that of
 * the second. Polynomials have coefficients of one bit; the highest bit of a number is the coefficient of x to the power 0.
 */

const POLYNOMIAL = 0xedb88320
const ONE = 0x8000_0000
const X = 0x4000_0000

/** a times b, modulo the polynomial of CRC-32. */
function multiply(a: number, b: number): number {
  let product = 0
  let shifted = b
  for (let bit = ONE; bit !== 0; bit >>>= 1) {
    if ((a & bit) !== 0) product ^= shifted
    shifted = (shifted & 1) === 1 ? (shifted >>> 1) ^ POLYNOMIAL : shifted >>> 1
  }
  return product >>> 0
}

/** x to the powers 1, 2, 4 and so on. */
const SQUARES: number[] = [X]
for (let last = X; SQUARES.length < 32; SQUARES.push(last)) last = multiply(last, last)

/** x to the power n, which is less than 2 to the power 32. */
function powerOfX(n: number): number {
  let power = ONE
  for (const [bit, square] of SQUARES.entries()) {
    if (((n >>> bit) & 1) === 1) power = multiply(power, square)
  }
  return power
}
