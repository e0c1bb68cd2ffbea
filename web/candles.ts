import type {
  CandleInterval,
  CandleRecord,
  CandleState,
  MarketEntry,
  SocketClient,
} from '../client/index.js'

/** The candles of one interval at a time: the history, and then each change as it comes. */
export interface Candles {
  /** By time. */
  rows(): readonly CandleRecord[]
  /** Reads the history of an interval and follows it; resolves to false where another was chosen meanwhile. */
  choose(interval: CandleInterval): Promise<boolean>
  /** From now on the newest candles follow the trades. */
  follow(socket: Pick<SocketClient, 'subscribe'>): void
}

export function createCandles(
  { market }: MarketEntry,
  read: (interval: CandleInterval) => Promise<readonly CandleRecord[]>,
  onChange: () => void,
): Candles {
  let candles = new Map<string, CandleRecord>()
  let chosen: CandleInterval | undefined
  let socket: Pick<SocketClient, 'subscribe'> | undefined
  let unfollow = (): void => undefined
  const take = (changed: readonly CandleState[]): void => {
    for (const candle of changed) {
      // A candle whose every trade was reversed is none.
      if (candle.trade_count === 0) candles.delete(candle.bucket_start)
      else candles.set(candle.bucket_start, candle)
    }
    onChange()
  }
  const followNow = (interval: CandleInterval): void => {
    unfollow()
    const handler = { onSnapshot: take, onUpdate: (candle: CandleState) => take([candle]) }
    unfollow = socket?.subscribe('candles', market, handler, { interval }) ?? unfollow
  }
  return {
    rows: () => [...candles.values()].sort((a, b) => a.bucket_start.localeCompare(b.bucket_start)),
    async choose(interval) {
      chosen = interval
      unfollow()
      unfollow = () => undefined
      const history = await read(interval)
      if (interval !== chosen) return false
      candles = new Map(history.map((each) => [each.bucket_start, each]))
      followNow(interval)
      onChange()
      return true
    },
    follow(live) {
      socket = live
      if (chosen !== undefined && candles.size > 0) followNow(chosen)
    },
  }
}
