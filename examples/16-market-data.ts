/** Follows the best levels, the ticker, the candles and the status of a market, then reads its marks and funding. */
import { WebSocket } from 'ws'
import {
  createRestClient,
  createSocketClient,
  followLevels,
  type LevelRecord,
} from '../client/index.js'
import { readDevnet } from './devnet.js'

const MARKET = 'cNGN-PERP'

const devnet = await readDevnet(process.argv[2])
const venue = createRestClient(devnet.gateway_url)
const url = new URL('/v1/ws', devnet.gateway_url.replace(/^http/, 'ws')).href
const socket = createSocketClient({ url, WebSocket })

const level = (best?: LevelRecord): string =>
  best === undefined ? 'nothing' : `${best.size} at ${best.price}`

/** Resolves with the first line that each channel shows. */
const lines = await Promise.all([
  new Promise<string>((resolve) => {
    followLevels(socket, MARKET, {
      depth: 10,
      // Every frame has been held to its checksum.
      onChange: (levels) =>
        resolve(`levels: ${level(levels.levels('buy')[0])}, ${level(levels.levels('sell')[0])}`),
    })
  }),
  new Promise<string>((resolve) => {
    socket.subscribe('ticker', MARKET, {
      onSnapshot: ({ mark_price, index_price }) =>
        resolve(`ticker: the mark is ${mark_price ?? 'unknown'}, the index ${index_price ?? ''}`),
      onUpdate: () => undefined,
    })
  }),
  new Promise<string>((resolve) => {
    const handler = {
      onSnapshot: (candles: readonly { readonly closed: boolean }[]) =>
        resolve(`candles: ${candles.filter(({ closed }) => closed).length} closed minutes`),
      onUpdate: () => undefined,
    }
    socket.subscribe('candles', MARKET, handler, { interval: '1m' })
  }),
  new Promise<string>((resolve) => {
    socket.subscribe('status', MARKET, {
      onSnapshot: ({ trading_status, trading_status_reason = 'no reason' }) =>
        resolve(`status: ${trading_status}, ${trading_status_reason}`),
      onUpdate: () => undefined,
    })
  }),
])
for (const line of lines) console.log(line)
socket.close()

const { marks } = await venue.marks(MARKET, { limit: 1 })
console.log(`${marks.length} of the marks: ${marks[0]?.mark_price ?? 'none yet'}`)
const { funding } = await venue.funding(MARKET, { limit: 1 })
console.log(`${funding.length} of the rates: ${funding[0]?.funding_rate_1h ?? 'none yet'} an hour`)
