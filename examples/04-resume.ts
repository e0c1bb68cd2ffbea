/** Disconnects from the book's feed, waits for changes, and resumes at the same sequence. */
import { once } from 'node:events'
import { privateKeyToAccount } from 'viem/accounts'
import { WebSocket } from 'ws'
import { createRestClient, randomNonce, signTraderOrder } from '../client/index.js'
import { accountOf, readDevnet } from './devnet.js'

const MARKET = 'cNGN-USDC'
const FIVE_MINUTES = 300

interface Frame {
  readonly type: string
  readonly seq: number
  readonly prev_seq: number
  readonly data: { readonly order_id: string; readonly size_delta: string }
}

const devnet = await readDevnet(process.argv[2])
const account = accountOf(devnet)
const venue = createRestClient(devnet.gateway_url)

/** Connects, subscribes, and passes on every frame until the callback returns `enough`. */
async function follow(sinceSeq: number | undefined, onFrame: (frame: Frame) => 'more' | 'enough') {
  const socket = new WebSocket(new URL('/v1/ws', devnet.gateway_url.replace(/^http/, 'ws')))
  await once(socket, 'open')
  const since = sinceSeq === undefined ? {} : { since_seq: sinceSeq }
  socket.send(JSON.stringify({ op: 'subscribe', channel: 'book', market: MARKET, ...since }))
  socket.on('message', (text: Buffer) => {
    if (onFrame(JSON.parse(text.toString()) as Frame) === 'enough') socket.close()
  })
  await once(socket, 'close')
}

let applied = 0
await follow(undefined, ({ type, seq }) => {
  applied = seq
  console.log(`${type} at ${seq}, and gone`)
  return 'enough'
})

const market = (await venue.markets()).find((one) => one.market === MARKET)
if (market === undefined) throw new Error(`the venue does not list ${MARKET}`)
const nonce = randomNonce()
const body = await signTraderOrder(
  privateKeyToAccount(account.private_key),
  { chainId: devnet.chain_id, matching: devnet.matching },
  {
    market,
    orderId: `example-${nonce}`,
    subaccountId: account.spot_subaccount_id,
    nonce,
    expirySec: Math.floor(Date.now() / 1_000) + FIVE_MINUTES,
    side: 'buy',
    price: '1400',
    size: '10',
  },
)
await venue.placeOrder(body)
await venue.cancelOrder({ owner_address: body.owner_address, nonce: body.nonce })
console.log(`meanwhile ${body.order_id} came and went`)

let changes = 0
await follow(applied, ({ type, seq, prev_seq, data }) => {
  if (type !== 'update') throw new Error(`a resumed stream begins with ${type}`)
  if (prev_seq > applied) throw new Error(`${seq} follows ${prev_seq}, but ${applied} was the last`)
  applied = seq
  console.log(`${type} at ${seq}: ${data.size_delta} of ${data.order_id}`)
  if (data.order_id === body.order_id) changes += 1
  return changes === 2 ? 'enough' : 'more'
})
console.log('nothing was missed')
