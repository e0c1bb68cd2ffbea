/**
 * Questions, or answers, of one turn of the event loop to the same place travel as one message: its cost on the way
 * through client and server is by message more than by byte. Who asked is told by a token, the last part of the subject
 * that is answered to.
 */
export interface Addressed {
  readonly token: string
  readonly data: Uint8Array
}

/** Most bytes of a group, far below what a message may have, and most members of it. */
const MAX_GROUP_BYTES = 256 * 1024
const MAX_GROUP = 64
/** Length of a token in one byte, of its data in four. */
const FRAME_BYTES = 5
/** Begins the token of a group; no single question's token does. */
const GROUP_MARK = '-'

export const groupToken = (number: number): string => `${GROUP_MARK}${number.toString(36)}`
export const isGroupToken = (token: string): boolean => token.startsWith(GROUP_MARK)

/** A subject to answer to as what all questions of an asker share, and the token. */
export function splitReply(replyTo: string): { readonly prefix: string; readonly token: string } {
  const dot = replyTo.lastIndexOf('.')
  return { prefix: replyTo.slice(0, dot), token: replyTo.slice(dot + 1) }
}

/** In order, cut into groups of which each fits a message. */
export function inGroups<Item extends Addressed>(items: readonly Item[]): Item[][] {
  const groups: Item[][] = []
  let bytes = Infinity
  for (const item of items) {
    const size = FRAME_BYTES + item.token.length + item.data.length
    const last = groups.at(-1)
    if (last === undefined || last.length === MAX_GROUP || bytes + size > MAX_GROUP_BYTES) {
      groups.push([item])
      bytes = size
    } else {
      last.push(item)
      bytes += size
    }
  }
  return groups
}

/** Tokens are short and of one byte a character, as those of the bus are. */
export function encodeGroup(items: readonly Addressed[]): Uint8Array {
  const size = items.reduce((sum, { token, data }) => {
    return sum + FRAME_BYTES + token.length + data.length
  }, 0)
  const bytes = Buffer.allocUnsafe(size)
  let at = 0
  for (const { token, data } of items) {
    at = bytes.writeUInt8(token.length, at)
    at += bytes.write(token, at, 'latin1')
    at = bytes.writeUInt32BE(data.length, at)
    bytes.set(data, at)
    at += data.length
  }
  return bytes
}

/** The inverse of encodeGroup, without a copy of the data. Throws RangeError on bytes that are not a group. */
export function decodeGroup(data: Uint8Array): Addressed[] {
  const bytes = Buffer.from(data.buffer, data.byteOffset, data.byteLength)
  const items: Addressed[] = []
  let at = 0
  while (at < bytes.length) {
    const tokenAt = at + 1
    const lengthAt = tokenAt + bytes.readUInt8(at)
    const dataAt = lengthAt + 4
    at = dataAt + bytes.readUInt32BE(lengthAt)
    if (at > bytes.length) throw new RangeError('a group ends in the middle of a message')
    const token = bytes.toString('latin1', tokenAt, lengthAt)
    items.push({ token, data: bytes.subarray(dataAt, at) })
  }
  return items
}
