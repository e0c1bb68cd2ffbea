import type { MarketEntry, RestClient, SocketClient } from '../client/index.js'
import { byId } from './dom.js'

const REFRESH_MS = 5_000
const TELL_MS = 250
const SECOND_MS = 1_000

export interface Followed {
  readonly market: MarketEntry
  readonly venue: RestClient
  readonly socket: Pick<SocketClient, 'isOpen' | 'connections'>
  /** The newest change that the page has. */
  readonly seq: () => number
  readonly onEntry: (entry: MarketEntry) => void
  /** Each second. */
  readonly onSecond: () => void
}

/** Shows the feed's place, how far reads are behind, and reconnects; reads the market's entry again. Returns how to end it. */
export function followHealth({
  market,
  venue,
  socket,
  seq,
  onEntry,
  onSecond,
}: Followed): () => void {
  const place = byId('health')
  let lag: number | undefined
  const tell = (): void => {
    const now = socket.isOpen()
    place.className = now && (lag ?? 0) === 0 ? '' : 'late'
    // Nothing looks live that is not: what the feed draws is dimmed while it is lost.
    document.body.dataset.feed = now ? 'live' : 'lost'
    const link = now ? 'connected' : 'lost: the numbers are old; reconnecting …'
    const reconnects = socket.connections() - 1
    const again = reconnects > 0 ? `, ${reconnects} reconnect${reconnects > 1 ? 's' : ''}` : ''
    place.textContent = `feed ${link}, seq ${seq()}, reads ${lag ?? '?'} behind${again}`
  }
  const read = async (): Promise<void> => {
    lag = (await venue.health()).markets[market.market]?.lag
    const entry = (await venue.markets()).find((each) => each.market === market.market)
    if (entry !== undefined) onEntry(entry)
  }
  const refresh = () => void read().catch(() => (lag = undefined))
  const timers = [
    setInterval(tell, TELL_MS),
    setInterval(refresh, REFRESH_MS),
    setInterval(onSecond, SECOND_MS),
  ]
  refresh()
  return () => timers.forEach((timer) => clearInterval(timer))
}
