const LONG = 55

/** An item with its length in front. */
export function rlpItem(bytes: Uint8Array): Uint8Array[] {
  const [first = 0] = bytes
  if (bytes.length === 1 && first < 0x80) return [bytes]
  return [rlpHead(0x80, bytes.length), bytes]
}

/** Items, encoded already, as a list. */
export function rlpList(items: readonly Uint8Array[]): Uint8Array[] {
  const length = items.reduce((sum, item) => sum + item.length, 0)
  return [rlpHead(0xc0, length), ...items]
}

/** An unsigned value, big-endian without leading zeros; nothing for zero. */
export function rlpInteger(value: bigint): Uint8Array[] {
  const digits = value === 0n ? '' : value.toString(16)
  return rlpItem(Buffer.from(digits.length % 2 === 0 ? digits : `0${digits}`, 'hex'))
}

function rlpHead(offset: number, length: number): Uint8Array {
  if (length <= LONG) return Uint8Array.of(offset + length)
  const digits = length.toString(16)
  const size = Buffer.from(digits.length % 2 === 0 ? digits : `0${digits}`, 'hex')
  return Buffer.concat([Uint8Array.of(offset + LONG + size.length), size])
}
