/** Trades against the best quote, follows the fill from its proposal on, and checks what it has moved. */
import { privateKeyToAccount } from 'viem/accounts'
import { formatUnits, parseUnits } from 'viem'
import { WebSocket } from 'ws'
import {
  createLocalFills,
  createRestClient,
  createSocketClient,
  randomNonce,
  signFrame,
  signTraderOrder,
  type AccountBalances,
} from '../client/index.js'
import { accountOf, readDevnet } from './devnet.js'

const MARKET = 'cNGN-USDC'
const FIVE_MINUTES = 300
const DECIMALS = 18

const devnet = await readDevnet(process.argv[2])
const account = accountOf(devnet)
const signer = privateKeyToAccount(account.private_key)
const venue = createRestClient(devnet.gateway_url)
const domain = devnet.auth_domain

const e18 = (text = '0'): bigint => parseUnits(text, DECIMALS)
const usdcOf = (accounts: readonly AccountBalances[]): bigint => {
  const mine = accounts.find(({ subaccount_id }) => subaccount_id === account.spot_subaccount_id)
  return e18(mine?.tokens.find(({ token }) => token === 'USDC')?.total)
}

const history = await signFrame(signer, { purpose: 'history', domain })
const { accounts } = await venue.balances(history, [account.spot_subaccount_id])
for (const { token, total, reserved_by_orders, available } of accounts[0]?.tokens ?? []) {
  console.log(
    `${token}: ${total}, ${reserved_by_orders} reserved by orders, ${available} available`,
  )
}
const before = usdcOf(accounts)

const { market_presentation: market, bids } = await venue.book(MARKET)
const quote = bids[0]?.spot_contract?.ui_intent
if (quote === undefined) throw new Error('no one sells USDC: is DEMO_MAKER off?')
const nonce = randomNonce()
const body = await signTraderOrder(
  signer,
  { chainId: devnet.chain_id, matching: devnet.matching },
  {
    market,
    orderId: `example-${nonce}`,
    subaccountId: account.spot_subaccount_id,
    nonce,
    expirySec: Math.floor(Date.now() / 1_000) + FIVE_MINUTES,
    side: 'buy',
    price: quote.price,
    size: '10',
    // A fee is of the price of execution, which may be better than ours.
    bestBid: bids[0]?.limit_price,
  },
)

const socket = createSocketClient({
  url: new URL('/v1/ws', devnet.gateway_url.replace(/^http/, 'ws')).href,
  WebSocket,
  authenticate: () => signFrame(signer, { purpose: 'socket', domain }),
})
const fills = createLocalFills()
let isSettled = false
let now = before

socket.subscribe('fills', MARKET, {
  onSnapshot(legs) {
    fills.apply(legs)
    void venue.placeOrder(body)
  },
  onUpdate(leg) {
    fills.apply(leg)
    if (leg.order_id !== body.order_id) return
    const where = leg.tx_hash === undefined ? '' : ` in ${leg.tx_hash}`
    console.log(`${leg.status} as ${leg.liquidity}: ${leg.size} cNGN at ${leg.price}${where}`)
    const mine = fills.pending().filter(({ order_id }) => order_id === body.order_id)
    isSettled = mine.length === 0
    finish()
  },
})
socket.subscribeBalances({
  onSnapshot: (all) => show(all),
  onUpdate: (all) => show(all),
})

function show(all: readonly AccountBalances[]): void {
  now = usdcOf(all)
  finish()
}

/** The chain shows the fill in a block that is read within a second. */
function finish(): void {
  const mine = fills.settled().filter(({ order_id }) => order_id === body.order_id)
  const moved = mine.reduce((sum, { side, price, size, fee }) => {
    const paid = (e18(price) * e18(size)) / e18('1')
    return sum + (side === 'buy' ? -paid : paid) - e18(fee)
  }, 0n)
  if (!isSettled || now - before !== moved) return
  console.log(`the fills moved ${formatUnits(moved, DECIMALS)} USDC, and so says the chain`)
  socket.close()
}
