import { expect } from 'chai'
import { randomInt } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { WebSocket } from 'ws'
import { createRestClient, type OrderBody, type TradeRecord } from '../../client/index.js'
import { eventually, onThisMachine } from '../support/eventually.js'
import { startVenue, type TestVenue } from '../support/venue.js'
import { startListener, type Listener, type OwnOrder } from './stage/listener.js'
import { endlessSteps, randomNumbers, startLoad, type Load } from './stage/load.js'
import { readOrders, readTrades, untilQuiet } from './stage/reconcile.js'
import { createTrader, SPOT, type Trader } from './stage/trader.js'

const PER_SECOND = 40
const LOAD_SECONDS = 15
const TRADERS = [0, 1, 2]
const LISTENERS = 12
/** Of the listeners, those that follow the orders of a trader. */
const PRIVATE_LISTENERS = 6
/** Longest between two disturbances of listeners. */
const DISTURB_WITHIN_MS = 250
/** When the fan-out is killed, by orders sent. */
const KILLS = [3 * PER_SECOND, 6 * PER_SECOND]
/** Ten seconds of the venue's own limits, and five for a loaded machine. */
const CUT_WITHIN_MS = 15_000
/** Often, but below the rate at which a client is cut for its messages alone. */
const ASK_EVERY_MS = 12
/** Limit from a change to a listener on a loaded machine; a client that blocks the fan-out takes longer. */
const LAG_MS = 5_000

describe('listeners under load, lost connections and a fan-out that is killed', function () {
  const seed = randomInt(2 ** 31)
  let venue: TestVenue
  const listeners: Listener[] = []
  before(async () => {
    venue = await startVenue({ blockTime: 1 })
  })
  after(async () => {
    for (const listener of listeners) listener.end()
    await venue?.stop()
  })

  const keyOf = (trader: number) => venue.devnet.accounts[trader]?.private_key ?? '0x'

  function listen(name: string, trader?: number): Listener {
    const mine = trader === undefined ? {} : { privateKey: keyOf(trader) }
    const listener = startListener(venue, { name, ...mine })
    listeners.push(listener)
    return listener
  }

  const isListening = ({ seqs, owner }: Listener): boolean =>
    seqs.book.length > 0 &&
    seqs.trades.length > 0 &&
    (owner === undefined || seqs.orders.length > 0)

  /** Disconnects or stalls a random listener from time to time. */
  async function disturb(victims: readonly Listener[], load: Load): Promise<void> {
    const random = randomNumbers(seed)
    while (load.sent() < PER_SECOND * LOAD_SECONDS) {
      await delay(random(DISTURB_WITHIN_MS))
      const victim = victims[random(victims.length)]
      if (random(4) === 0) victim?.stall(200 + random(800))
      else victim?.drop()
    }
  }

  /** The next kill waits until the steady listener is connected again: each kill cuts exactly one of its connections. */
  async function killTwice(load: Load, steady: Listener): Promise<void> {
    for (const [index, sent] of KILLS.entries()) {
      await eventually(() => load.sent() >= sent)
      await venue.restartWorker('ws-fanout', 'SIGKILL')
      await eventually(() => steady.connections() === index + 2)
    }
  }

  it('all end with what REST shows at the same sequence (STR-013)', async () => {
    const victims = Array.from({ length: LISTENERS }, (_, index) =>
      listen(`listener ${index}`, index < PRIVATE_LISTENERS ? index % TRADERS.length : undefined),
    )
    const steady = listen('the steady one', 0)
    await eventually(() => listeners.every(isListening))
    const traders = TRADERS.map((name) => createTrader(venue.devnet, name))
    const steps = endlessSteps(traders)
    const load = startLoad({ gatewayUrl: venue.gatewayUrl, steps, perSecond: PER_SECOND })
    const greedyIsCut = killTwice(load, steady).then(untilGreedyIsCut)
    greedyIsCut.catch(() => undefined)
    await disturb(victims, load).finally(() => load.stop())
    await greedyIsCut
    const bodies = (await load.answered()).flatMap(({ step }) =>
      step.kind === 'place' ? [step.body] : [],
    )
    await untilQuiet(
      venue,
      bodies.map(({ order_id }) => order_id),
    )
    await expectAllAgree(traders, bodies)
    for (const victim of victims) expect(victim.connections(), victim.name).to.be.above(2)
    expect(steady.connections(), 'only the kills cut the one that reads').to.equal(1 + KILLS.length)
    expect(steady.longestLagMs(), `seed ${seed}`).to.be.below(LAG_MS)
  })

  /** A client that asks for everything again and again and reads nothing must be cut, whatever it holds up. */
  async function untilGreedyIsCut(): Promise<void> {
    const ws = new WebSocket(new URL('/v1/ws', venue.gatewayUrl.replace(/^http/, 'ws')))
    ws.on('error', () => undefined)
    ws.once('open', () => ws.pause())
    await eventually(() => ws.readyState === WebSocket.OPEN)
    const since = performance.now()
    const stream = { channel: 'book', market: SPOT }
    while (ws.readyState === WebSocket.OPEN) {
      expect(performance.now() - since, 'ms that it was served').to.be.below(
        onThisMachine(CUT_WITHIN_MS),
      )
      ws.send(JSON.stringify({ op: 'subscribe', ...stream, since_seq: 0 }))
      ws.send(JSON.stringify({ op: 'unsubscribe', ...stream }))
      await delay(ASK_EVERY_MS)
    }
    ws.terminate()
  }

  async function expectAllAgree(
    traders: readonly Trader[],
    bodies: readonly OrderBody[],
  ): Promise<void> {
    const fresh = TRADERS.map((trader) => listen(`fresh ${trader}`, trader))
    await eventually(() => fresh.every(isListening))
    const headSeq = await readProjectedSeq()
    await eventually(() => {
      for (const { book, name } of listeners) expect(book.seq(), name).to.equal(headSeq)
    })
    const rest = createRestClient(venue.gatewayUrl)
    const { bids, asks } = await rest.book(SPOT)
    const open = [...bids, ...asks].map(({ order_id, open_amount }) => [order_id, open_amount])
    const trades = (await readTrades(venue)).map(framed)
    const orders = await readOrders(
      venue,
      bodies.map(({ order_id }) => order_id),
    )
    expect(trades.length, 'trades').to.be.above(50)
    for (const listener of listeners) {
      const { name, book, seqs } = listener
      const about = `${name}, seed ${seed}`
      expect(listener.faults, about).to.deep.equal([])
      expect([...book.openAmounts()].sort(), about).to.deep.equal(open.toSorted())
      const isFresh = fresh.includes(listener)
      const told = [...listener.trades.values()].sort((a, b) => b.trade_id - a.trade_id)
      // A snapshot shows the newest trades only.
      const shown = isFresh ? trades.slice(0, told.length) : trades
      expect(told.map(framed), about).to.deep.equal(shown)
      const [first = 0] = seqs.book
      const every = Array.from({ length: headSeq - first + 1 }, (_, index) => first + index)
      expect(seqs.book, about).to.deep.equal(every)
    }
    for (const [index, trader] of traders.entries()) {
      const mine = new Map(
        [...orders].filter(([, { owner_address }]) => owner_address === trader.address),
      )
      expectOwnOrders(trader, mine, fresh[index])
    }
    expect(await readProjectedSeq(), 'what REST was read at').to.equal(headSeq)
  }

  function expectOwnOrders(
    { address }: Trader,
    mine: ReadonlyMap<string, OwnOrder>,
    fresh: Listener | undefined,
  ): void {
    const followers = listeners.filter(({ owner }) => owner === address)
    expect(followers.length).to.be.above(1)
    for (const listener of followers) {
      const expected =
        listener === fresh ? [...mine].filter(([, { status }]) => isLive(status)) : [...mine]
      expect(standing(listener.orders), `${listener.name}, seed ${seed}`).to.deep.equal(
        standing(expected),
      )
    }
  }

  async function readProjectedSeq(): Promise<number> {
    const { markets } = (await createRestClient(venue.gatewayUrl).health()) as {
      readonly markets: Readonly<Record<string, { readonly projected_seq: number }>>
    }
    return markets[SPOT]?.projected_seq ?? 0
  }
})

const isLive = (status: string): boolean => ['active', 'matching'].includes(status)

/** What a frame says of a trade; REST and snapshots say more. */
const framed = (trade: TradeRecord): unknown[] => [
  ...[trade.trade_id, trade.price, trade.size, trade.aggressor_side],
  ...[trade.taker_order_id, trade.maker_order_id, trade.created_at],
]

const standing = (orders: Iterable<readonly [string, OwnOrder]>): string[] =>
  [...orders].map(([id, { status, filled_amount }]) => `${id} ${status} ${filled_amount}`).sort()
