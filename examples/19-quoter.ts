/**
 * Keeps ten quotes a side on the spot market and on the perpetual until it is interrupted, through connections that are lost and a
 * venue that restarts; then cancels them and checks every fill against the chain, to the last unit.
 */
import { setTimeout as delay } from 'node:timers/promises'
import { parseUnits } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { WebSocket } from 'ws'
import {
  createRestClient,
  createSeenSeqs,
  createSocketClient,
  signFrame,
  VenueError,
  type MarketEntry,
  type TickerState,
} from '../client/index.js'
import { accountOf, readDevnet } from './devnet.js'
import { settlementsOf, type Settlements } from './perpetual.js'
import {
  createQuoter,
  disagreements,
  fillsOf,
  movedBy,
  movedWords,
  QUOTES,
  untilAgreed,
  type Quoter,
} from './quoter.js'

const SPOT = 'cNGN-USDC'
const PERP = 'cNGN-PERP'
const TUNE_EVERY_MS = 250
/** The quotes outlive a restart of the venue, and not much more. */
const DEAD_MAN_SEC = 300
const A_DAY = 86_400
/** The history shows a settled fill within seconds; a venue that restarts takes a while. */
const RECONCILED_WITHIN_MS = 120_000

const devnet = await readDevnet(process.argv[2])
const account = accountOf(devnet)
const signer = privateKeyToAccount(account.private_key)
const seen = createSeenSeqs()
const venue = createRestClient(devnet.gateway_url, { seen })
const domain = await venue.domain()
const history = await signFrame(signer, {
  purpose: 'history',
  ...domain.frames,
  validSec: A_DAY,
})
const socket = createSocketClient({
  url: `${devnet.gateway_url.replace(/^http/, 'ws')}/v1/ws`,
  WebSocket,
  seen,
  authenticate: () => signFrame(signer, { purpose: 'socket', ...domain.frames }),
})
const disarm = socket.deadMan({ seconds: DEAD_MAN_SEC })

const markets = await venue.markets()
const marketOf = (name: string): MarketEntry => {
  const market = markets.find((one) => one.market === name)
  if (market === undefined) throw new Error(`the venue does not list ${name}`)
  return market
}
const { now: start } = await venue.time()
const name = `quoter-${Date.now()}`
const desk = { venue, socket, signer, domain, name }
const spot = createQuoter({
  ...desk,
  market: marketOf(SPOT),
  subaccountId: account.spot_subaccount_id,
})
const perp = createQuoter({
  ...desk,
  market: marketOf(PERP),
  subaccountId: account.perp_subaccount_id,
})
const before = new Map([
  [spot, await holdingOf(spot)],
  [perp, await holdingOf(perp)],
])

/** Of both markets: the index of the perpetual, USDC per cNGN. */
let middle = marketOf(PERP).perp?.index_price_ui ?? ''
const follow = ({ index_price }: TickerState): void => void (middle = index_price ?? middle)
socket.subscribe('ticker', PERP, { onSnapshot: follow, onUpdate: follow })

let isStopping = false
process.once('SIGINT', () => (isStopping = true))
let said = ''
while (!isStopping) {
  await carryOn(async () => {
    await Promise.all([spot.tune(middle), perp.tune(middle)])
  })
  report()
  await delay(TUNE_EVERY_MS)
}

await untilDone(async () => {
  const { left } = await socket.cancelAll()
  return left === 0 && spot.isOver() && perp.isOver()
})
disarm()
await untilDone(async () => (await venue.openOrders(history)).length === 0)
for (const [quoter, held] of before) {
  const wait = { withinMs: RECONCILED_WITHIN_MS, everyMs: TUNE_EVERY_MS }
  await untilAgreed(() => reconcile(quoter, held), wait)
}
socket.close()

/** Both markets, and the connection, where they are as they should be. */
function report(): void {
  const isWhole = [spot, perp].every((one) => one.resting() === 2 * QUOTES)
  const now = isWhole ? `${2 * QUOTES} quotes a market by connection ${socket.connections()}` : ''
  if (now !== said && now !== '') console.log(now)
  said = now
}

/** What a venue that is away or busy throws is met in the next round. */
async function carryOn(act: () => Promise<unknown>): Promise<void> {
  try {
    await act()
  } catch (error) {
    if (!(error instanceof VenueError) || error.retry === 'never') throw error
    await delay((error.retryAfterSec ?? 0) * 1_000)
  }
}

async function untilDone(isDone: () => Promise<boolean>): Promise<void> {
  for (let done = false; !done; await delay(TUNE_EVERY_MS)) {
    await carryOn(async () => (done = await isDone()))
  }
}

/** What an account holds at one block: cNGN, or the position of the perpetual, and USDC. */
interface Holding {
  readonly block: number
  readonly cngnE18: bigint
  readonly usdcE18: bigint
}

/** What the chain says that the quoter's account holds. */
async function holdingOf(quoter: Quoter): Promise<Holding> {
  const id = quoter === spot ? account.spot_subaccount_id : account.perp_subaccount_id
  const { accounts } = await venue.balances(history, [id])
  const [held] = accounts
  if (held === undefined) throw new Error(`the venue shows no account ${id}`)
  const e18 = (text = '0'): bigint => parseUnits(text, 18)
  const token = (named: string) => held.tokens.find((one) => one.token === named)?.total
  const position = held.margin.find(({ market }) => market === PERP)?.position
  return {
    block: held.block_number,
    cngnE18: e18(quoter === spot ? token('cNGN') : position),
    usdcE18: e18(token('USDC')),
  }
}

/** Marks, gain and funding of the perpetual from where the chain is now: it may have moved with the venue. */
async function settlements(from: number, to: number): Promise<Settlements> {
  const { chain } = await venue.venue()
  const contracts = { asset: devnet.perp_asset, manager: devnet.perp_manager }
  const subaccountId = account.perp_subaccount_id
  return settlementsOf(chain.rpc_url ?? devnet.rpc_url, contracts, { subaccountId, from, to })
}

/** What of the socket and the history does not agree with the chain about the quoter's fills; says so when all do. */
async function reconcile(quoter: Quoter, before: Holding): Promise<readonly string[]> {
  let wrong: readonly string[] = ['the venue gives no answer']
  await carryOn(async () => {
    const fills = await fillsOf(venue, history, { quoter, start })
    const after = await holdingOf(quoter)
    const { marks, gainE18 }: Settlements =
      quoter === spot
        ? { marks: new Map(), gainE18: 0n }
        : await settlements(before.block, after.block)
    const moved = {
      cngnE18: after.cngnE18 - before.cngnE18,
      usdcE18: after.usdcE18 - before.usdcE18,
    }
    const said = {
      'the history': movedBy(fills, marks),
      'the socket': movedBy(quoter.fills.settled(), marks),
    }
    wrong = disagreements(said, { ...moved, usdcE18: moved.usdcE18 - gainE18 })
    if (wrong.length > 0) return
    const what = quoter === spot ? '' : 'a position of '
    const words = `${fills.length} fills moved ${what}${movedWords(moved)}`
    console.log(`${quoter.market}: ${words}; so says the chain`)
  })
  return wrong
}
