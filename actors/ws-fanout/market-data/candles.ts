import {
  candlesAfter,
  newestCandles,
  type HeldCandle,
  type IntervalCandles,
} from '../../../core/market-data/candle-series.js'
import type { CandleInterval } from '../../../core/records/candle-record.js'
import { candleState } from '../../../core/records/market-data.js'
import { isoTime } from '../../../core/time.js'
import { MAX_SNAPSHOT_CANDLES } from '../limits.js'
import { keptData, updateFrame, type ValueStream } from './value-stream.js'

/**
 * The candles of one interval. A candle that several trades of one turn of the event loop have changed is sent once, and a
 * resume sends each candle that was changed since once, as it is now.
 */
export function candlesStream(
  market: string,
  interval: CandleInterval,
  held: IntervalCandles,
): ValueStream {
  let sentSeq = held.seq
  const data = keptData(() => newestCandles(held, MAX_SNAPSHOT_CANDLES).map(candleState))

  function framesOf(candles: readonly HeldCandle[], sinceSeq: number): Buffer[] {
    let prevSeq = sinceSeq
    return candles.map((candle) => {
      const { seq, updatedMs } = candle
      const update = { seq, prevSeq, ts: isoTime(updatedMs), data: candleState(candle) }
      prevSeq = seq
      return updateFrame({ channel: 'candles', market, interval }, update)
    })
  }

  return {
    headSeq: () => held.seq,
    next() {
      if (held.seq === sentSeq) return []
      const frames = framesOf(candlesAfter(held, sentSeq) ?? [], sentSeq)
      sentSeq = held.seq
      data.drop()
      return frames
    },
    snapshot: () => ({ seq: held.seq, data: data.get() }),
    after(sinceSeq) {
      const candles = candlesAfter(held, sinceSeq)
      return candles && framesOf(candles, sinceSeq)
    },
  }
}
