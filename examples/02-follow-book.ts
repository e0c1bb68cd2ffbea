/** Follows the spot market's book and prints its best prices at every change, until it is interrupted. */
import { WebSocket } from 'ws'
import { createLocalBook, createSocketClient } from '../client/index.js'
import { readDevnet } from './devnet.js'

const MARKET = 'cNGN-USDC'

const devnet = await readDevnet(process.argv[2])
const url = new URL('/v1/ws', devnet.gateway_url.replace(/^http/, 'ws')).href
const socket = createSocketClient({ url, WebSocket })
const book = createLocalBook()

function print(): void {
  const bid = book.levels('buy')[0]
  const ask = book.levels('sell')[0]
  const side = (name: string, level?: { price: string; size: string }): string =>
    level === undefined ? `no ${name}` : `${name} ${level.size} cNGN at ${level.price} USDC`
  console.log(`${book.seq()}: ${side('bid', bid)}, ${side('ask', ask)}`)
}

socket.subscribe('book', MARKET, {
  onSnapshot(data, seq) {
    book.reset(data, seq)
    print()
  },
  onUpdate(data, seq) {
    book.apply(data, seq)
    print()
  },
})
process.once('SIGINT', () => socket.close())
