import type { Change } from '../../core/change.js'
import type { Market } from '../../core/market.js'
import { bookUpdate, tradesUpdate } from '../../core/records/frames.js'
import type { ChangeFrames } from './change-ring.js'
import { textFrame } from './server-frames.js'

/** A change's frames as bytes: the same whether they are made when it happens or read again later. */
export function changeFrames(
  market: Market,
  change: Change,
  previousTradeSeq: number,
): ChangeFrames {
  const trades = tradesUpdate(market, change, previousTradeSeq)
  return {
    seq: change.seq,
    book: jsonFrame(bookUpdate(market, change)),
    trades: trades === undefined ? undefined : jsonFrame(trades),
  }
}

function jsonFrame(frame: object): Buffer {
  return textFrame(Buffer.from(JSON.stringify(frame)))
}
