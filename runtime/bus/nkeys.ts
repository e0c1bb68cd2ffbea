import { createPrivateKey, createPublicKey, sign, verify, type KeyObject } from 'node:crypto'
import { nkeys } from 'nats'

/**
 * Ed25519 keys in the text form of NATS: a seed begins with `SU`, its public key with `U`. The platform computes with them: the
 * library's plain JavaScript takes a tenth of a second of processor time for each signature in a process that does not
 * optimize, while the bus server waits for it.
 */

const library = nkeys as { createUser(): { getSeed(): Uint8Array } }

/** A text that is neither a user's seed nor a user's public key. */
export class NotAKey extends Error {
  override readonly name = 'NotAKey'
}

/** The text of a new seed. */
export const newSeed = (): string => new TextDecoder().decode(library.createUser().getSeed())

/** What a seed gives. */
export interface SigningKey {
  readonly publicKey: string
  /** The signature, 64 bytes. */
  readonly sign: (data: Uint8Array) => Uint8Array
}

/** The key of a seed. Throws NotAKey. */
export function signingKeyOf(seed: Uint8Array): SigningKey {
  const bytes = decode(new TextDecoder().decode(seed), SEED_PREFIX)
  const key = createPrivateKey({
    key: Buffer.concat([PKCS8_HEADER, bytes]),
    format: 'der',
    type: 'pkcs8',
  })
  const { x = '' } = createPublicKey(key).export({ format: 'jwk' })
  const publicKey = encode(USER_PREFIX, Buffer.from(x, 'base64url'))
  return { publicKey, sign: (data) => sign(null, data, key) }
}

/** Whether the signature, in base64, is that of the key; false for what is not a key, or not a signature. */
export function isSignedBy(key: string, text: Uint8Array, signature: string): boolean {
  let read: KeyObject
  try {
    const x = decode(key, USER_PREFIX).toString('base64url')
    read = createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x }, format: 'jwk' })
  } catch (error) {
    if (error instanceof NotAKey) return false
    throw error
  }
  return verify(null, text, read, Buffer.from(signature, 'base64'))
}

/** Everything before the 32 bytes of an Ed25519 private key in PKCS #8. */
const PKCS8_HEADER = Buffer.from('302e020100300506032b657004220420', 'hex')
const KEY_BYTES = 32
const CHECKSUM_BYTES = 2
/** The bytes before a key: they give the first letters of its text, `SU` and `U`. */
const SEED_PREFIX = Buffer.of(0x95, 0x00)
const USER_PREFIX = Buffer.of(0xa0)

/** The 32 bytes in a key's text. Throws NotAKey. */
function decode(text: string, prefix: Buffer): Buffer {
  const bytes = fromBase32(text)
  const end = prefix.length + KEY_BYTES
  const isWhole = toBase32(bytes) === text && bytes.length === end + CHECKSUM_BYTES
  if (!isWhole || !bytes.subarray(0, prefix.length).equals(prefix))
    throw new NotAKey('not the text of an nkey of a user')
  if (bytes.readUInt16LE(end) !== checksum(bytes.subarray(0, end)))
    throw new NotAKey('the checksum of the nkey does not fit')
  return bytes.subarray(prefix.length, end)
}

function encode(prefix: Buffer, key: Buffer): string {
  const bytes = Buffer.alloc(prefix.length + KEY_BYTES + CHECKSUM_BYTES)
  prefix.copy(bytes)
  key.copy(bytes, prefix.length)
  const end = prefix.length + KEY_BYTES
  bytes.writeUInt16LE(checksum(bytes.subarray(0, end)), end)
  return toBase32(bytes)
}

const BASE32 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'
const BITS = 5

/** RFC 4648 without padding: bits below the last byte are zero. */
function toBase32(bytes: Buffer): string {
  const bits = [...bytes].map((byte) => byte.toString(2).padStart(8, '0')).join('')
  const groups = bits.match(/.{1,5}/g) ?? []
  return groups.map((group) => BASE32[parseInt(group.padEnd(BITS, '0'), 2)]).join('')
}

/** The bytes of a text that toBase32 made; of any other text, bytes that toBase32 does not make it of. */
function fromBase32(text: string): Buffer {
  const digits = [...text].map((letter) => Math.max(0, BASE32.indexOf(letter)))
  const bits = digits.map((digit) => digit.toString(2).padStart(BITS, '0')).join('')
  return Buffer.from((bits.match(/.{8}/g) ?? []).map((byte) => parseInt(byte, 2)))
}

/** CRC-16/XMODEM. */
function checksum(bytes: Uint8Array): number {
  let crc = 0
  for (const byte of bytes) {
    crc ^= byte << 8
    for (let bit = 0; bit < 8; bit += 1)
      crc = (crc & 0x8000 ? (crc << 1) ^ 0x1021 : crc << 1) & 0xffff
  }
  return crc
}
