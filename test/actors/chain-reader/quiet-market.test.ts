import { expect } from 'chai'
import {
  createAccountWatch,
  type AccountWatch,
} from '../../../actors/chain-reader/account-watch.js'
import {
  createQuietMarket,
  LOOK_MESSAGES_MAX,
  QUIET_AFTER_MS,
  type FollowedOrders,
  type QuietMarket,
} from '../../../actors/chain-reader/quiet-market.js'
import { SPARED_FACTS_VERSION } from '../../../core/engine/engine-version.js'
import { amountE18 } from '../../../core/money.js'
import { BusUnavailable } from '../../../runtime/bus/bus.js'
import { anOrder, aPerp } from '../../support/builders.js'
import { aChange } from '../../support/changes.js'

const market = aPerp()
const order = anOrder({ orderId: 'o' })
const placed = aChange(1, order, { kind: 'OrderPlaced', order, rank: 1 }, { open: 5n })
const cancelled = aChange(
  2,
  order,
  { kind: 'OrderCancelled', cancelReason: 'x' },
  { status: 'cancelled' },
)

describe('a market whose facts may rest', () => {
  let nowMs: number
  let version: number
  let isKnown: boolean
  let watch: AccountWatch
  let orders: FollowedOrders
  let quiet: QuietMarket
  let lives: number
  /** The bound of each read of the log. */
  let asked: (number | undefined)[]
  let trouble: Error | undefined

  beforeEach(() => {
    nowMs = 1_790_000_000_000
    version = SPARED_FACTS_VERSION
    isKnown = true
    lives = 0
    asked = []
    trouble = undefined
    watch = createAccountWatch()
    orders = { watch, isKnown: () => isKnown, onBlock: () => undefined }
    quiet = createQuietMarket({
      market,
      orders,
      nowMs: () => nowMs,
      onLife: () => (lives += 1),
      lastNumbers: {
        engineVersion: () => version,
        read: (_row, most) => {
          asked.push(most)
          return trouble === undefined ? Promise.resolve(1) : Promise.reject(trouble)
        },
      },
    })
  })
  const apply = (...changes: (typeof placed)[]) => {
    watch.apply({ market: market.market, commandSeq: 1, commandIndex: 0, firstSeq: 1, changes })
    orders.onBlock()
  }
  const after = (ms: number) => {
    nowMs += ms
    return quiet.mayRest()
  }

  it('has had no order for a minute', async () => {
    expect(await after(QUIET_AFTER_MS - 1)).to.equal(false)
    expect(await after(1)).to.equal(true)
    apply(placed)
    expect(await after(1_000)).to.equal(false)
    apply(cancelled)
    expect(await after(QUIET_AFTER_MS - 1)).to.equal(false)
    expect(await after(1_000)).to.equal(true)
  })

  it('has no order that ended while a match of it awaits settlement', async () => {
    apply(placed, { ...cancelled, pending: amountE18(1n) })
    expect(watch.orders()).to.equal(0)
    expect(await after(2 * QUIET_AFTER_MS)).to.equal(false)
    apply(cancelled)
    expect(await after(QUIET_AFTER_MS)).to.equal(true)
  })

  it('is not one whose feed is not read from its beginning to its end', async () => {
    isKnown = false
    expect(await after(2 * QUIET_AFTER_MS)).to.equal(false)
    isKnown = true
    expect(await after(QUIET_AFTER_MS)).to.equal(true)
  })

  it('says once that it has an order again, and only after it rested', async () => {
    apply(placed)
    apply(cancelled)
    expect(lives).to.equal(0)
    await after(QUIET_AFTER_MS)
    apply()
    expect(lives).to.equal(0)
    apply(placed)
    apply(placed)
    expect(lives).to.equal(1)
  })

  it('is not one whose log has an older engine version, which it looks for now and then (OPE-023)', async () => {
    version = SPARED_FACTS_VERSION - 1
    expect(await after(QUIET_AFTER_MS)).to.equal(false)
    expect(asked).to.have.length(1)
    expect(await after(9_999)).to.equal(false)
    expect(asked).to.have.length(1)
    version = SPARED_FACTS_VERSION
    expect(await after(1)).to.equal(true)
  })

  it('is looked for in so much of a log at once, and a log that cannot be read ends nothing', async () => {
    version = SPARED_FACTS_VERSION - 1
    await after(QUIET_AFTER_MS)
    trouble = new BusUnavailable('away')
    expect(await after(10_000)).to.equal(false)
    trouble = undefined
    await after(10_000)
    expect(asked).to.deep.equal([LOOK_MESSAGES_MAX, LOOK_MESSAGES_MAX, LOOK_MESSAGES_MAX])
  })
})
