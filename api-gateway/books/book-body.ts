import { bodyPart, type BodyPart } from '../../runtime/http/gzip-parts.js'
import type { Piece, RenderedBook } from './render-book.js'

/** The members of a book's body after `market_presentation`, closed; `depth` keeps that many orders of each side. */
export function bookMembers({ bids, asks }: RenderedBook, depth = Infinity): BodyPart[] {
  return [BIDS, ...upTo(bids, depth), ASKS, ...upTo(asks, depth), END]
}

const BIDS = bodyPart(Buffer.from('"bids":['))
const ASKS = bodyPart(Buffer.from('],"asks":['))
const END = bodyPart(Buffer.from(']}'))

function upTo(pieces: readonly Piece[], depth: number): BodyPart[] {
  const parts: BodyPart[] = []
  let left = depth
  for (const piece of pieces) {
    const { bytes, ends } = piece
    if (ends.length >= left) {
      const isWhole = ends.length === left
      return [...parts, isWhole ? piece : bodyPart(bytes.subarray(0, ends[left - 1]))]
    }
    parts.push(piece)
    left -= ends.length
  }
  return parts
}
