import { expect } from 'chai'
import fc from 'fast-check'
import { decodeBlock, encodeBlock } from '../../../bus-schemas/blocks.js'
import { decodeCheckpoint, encodeCheckpoint } from '../../../bus-schemas/checkpoint.js'
import { checkpointState } from '../../../bus-schemas/checkpoint-state.js'
import { commandMessages } from '../../../bus-schemas/commands.js'
import { commandsSubject } from '../../../bus-schemas/subjects.js'
import { decodeTradeData, encodeTradeData } from '../../../core/entry/read-action.js'
import { applyMessage } from '../../../core/engine/apply-message.js'
import type { Command } from '../../../core/model/command.js'
import type { MatcherState } from '../../../core/engine/state.js'
import { openingOf } from '../../../core/model/market-terms.js'
import type { Market } from '../../../core/model/market.js'
import { formatDecimal } from '../../../core/decimal.js'
import { emptyMatcherState } from '../../../core/engine/empty-state.js'
import { signedAmount } from '../../../core/entry/order-terms.js'
import { validateOrder } from '../../../core/entry/validate-order.js'
import { amountE18 } from '../../../core/money.js'
import { aFuture, aMarket, aPerp, signedOrderBody } from '../../support/builders.js'
import { START_MS } from '../../support/matching.js'
import { takeSnapshot } from '../../support/snapshots.js'
import { runs } from '../../support/property-runs.js'

/** Every power of two and ten at which something ends: a number, a word, a date, the digits of a text. */
const INTEGERS = [
  ...[0n, 1n, 2n ** 31n, 2n ** 32n, 2n ** 53n - 1n, 2n ** 63n, 10n ** 15n, 10n ** 18n],
  ...[2n ** 128n, 2n ** 255n - 1n, 2n ** 255n, 2n ** 256n - 1n, 10n ** 77n],
]
const integer = fc.oneof(fc.constantFrom(...INTEGERS), fc.bigInt(0n, 2n ** 256n - 1n))
const second = fc.oneof(
  fc.constantFrom(0, 1, 2 ** 31, 2 ** 32, 8_640_000_000_000, 9_007_199_254_750, 10 ** 15),
  fc.constantFrom(8_640_000_000_001, 9_007_199_254_751, Number.MAX_SAFE_INTEGER),
  fc.integer({ min: START_MS / 1_000 + 1, max: START_MS / 1_000 + 100 }),
)
/** A step of the grid, up to the whole of a word. */
const steps = fc.oneof(
  fc.integer({ min: 1, max: 20 }).map(BigInt),
  fc.integer({ min: 0, max: 60 }).map((digits) => 10n ** BigInt(digits)),
)
/** Text of every plane, as long as an id may be. */
const text = fc.oneof(
  fc.string({ unit: 'binary', minLength: 1, maxLength: 64 }),
  fc.constantFrom('x'.repeat(128), '\u{10ffff}'.repeat(64), '\u{1f600}\u2028"\\', '__proto__'),
)

interface Wish {
  readonly orderId: string
  readonly buy: boolean
  readonly price: bigint
  readonly amount: bigint
  readonly filled: bigint
  readonly nonce: bigint
  readonly account: bigint
  readonly worstFee: bigint
  readonly expiry: number
  readonly signedExpiry: bigint
  readonly controls: object
  readonly checked: boolean
  /** When the key that signed it ends; undefined for the owner's own. */
  readonly keyEndsSec: number | undefined
  readonly cancelled: boolean
}
const wish: fc.Arbitrary<Wish> = fc.record({
  orderId: text,
  buy: fc.boolean(),
  price: steps,
  amount: steps,
  filled: fc.constantFrom(0n, 1n),
  nonce: integer,
  account: fc.oneof(fc.constantFrom(1n, 2n), integer),
  worstFee: integer,
  expiry: second,
  signedExpiry: fc.oneof(integer, second.map(BigInt)),
  controls: fc.constantFrom({}, {}, { time_in_force: 'IOC' }, { post_only: 'slide' }),
  checked: fc.integer({ min: 0, max: 7 }).map((eighth) => eighth > 0),
  keyEndsSec: fc.option(second, { nil: undefined, freq: 4 }),
  cancelled: fc.boolean(),
})

/** The placement that the intake would log, and what may follow; nothing of an order that it refuses. */
function commandsOf(market: Market, good: object, wish: Wish): Command[] {
  const { data } = (good as { action_json: { data: string } }).action_json
  const decoded = decodeTradeData(data)
  if ('refusal' in decoded) throw new Error(decoded.refusal.message)
  const price = wish.price * market.tickSize
  const amount = wish.amount * market.minSize
  const desired = signedAmount(market, amountE18(amount))
  const [limitPrice, desiredAmount] = [price, desired].map((word) => BigInt.asUintN(256, word))
  const { worstFee, account: recipientId, buy: isBid } = wish
  const words = { ...decoded.data, worstFee, recipientId, isBid }
  const body = {
    ...good,
    ...wish.controls,
    order_id: wish.orderId,
    side: isBid ? 'buy' : 'sell',
    limit_price: formatDecimal(price, 18),
    desired_amount: formatDecimal(amount, 18),
    filled_amount: formatDecimal(wish.filled * market.minSize, 18),
    worst_fee: String(worstFee),
    nonce: String(wish.nonce),
    subaccount_id: String(recipientId),
    recipient_id: String(recipientId),
    expiry: wish.expiry,
    action_json: {
      ...(good as { action_json: object }).action_json,
      nonce: String(wish.nonce),
      subaccount_id: String(recipientId),
      expiry: String(wish.signedExpiry),
      data: encodeTradeData({ ...words, limitPrice: limitPrice!, desiredAmount: desiredAmount! }),
    },
  }
  const valid = validateOrder(JSON.parse(JSON.stringify(body)), {
    markets: [market],
    nowMs: START_MS,
  })
  if ('refusal' in valid) return []
  const { order } = valid
  order.signatureStatus = wish.checked ? 'checked' : 'unchecked'
  const { orderId, owner, nonce } = order
  const commands: Command[] = [{ kind: 'PlaceOrder', order }]
  const { keyEndsSec } = wish
  if (keyEndsSec !== undefined)
    commands.push({ kind: 'SessionKeyObserved', orderId, endsSec: keyEndsSec })
  if (wish.cancelled)
    commands.push({ kind: 'CancelOrder', owner, nonce, reason: wish.orderId.slice(0, 128) })
  return commands
}

/** The state after a checkpoint and a start. */
function restarted(market: Market, state: MatcherState): MatcherState {
  const feed = { messageSeq: 1, sha256: 'ab'.repeat(32) }
  const checkpoint = { commandSeq: 1, feed, term: 1, state: takeSnapshot(state) }
  const messages = [...encodeCheckpoint({ market: market.market, ...checkpoint })]
  return checkpointState(decodeCheckpoint(messages.map(bytes), market))
}
const bytes = (message: string): Uint8Array => Buffer.from(message)

describe('orders at the extremes of every field', () => {
  const markets = { spot: aMarket(), perpetual: aPerp(), future: aFuture() }
  for (const [kind, market] of Object.entries(markets)) {
    it(`of a ${kind} are in its log, its feed and after a restart what they were (MON-013)`, async () => {
      const good = await signedOrderBody({ market })
      let placed = 0
      fc.assert(
        fc.property(fc.array(wish, { minLength: 1, maxLength: 12, size: 'max' }), (wishes) => {
          const state = emptyMatcherState(openingOf(market))
          const { encode, take } = commandMessages(market)
          const subject = commandsSubject(market.market)
          let sourceNo = 0
          for (const wish of wishes) {
            for (const command of commandsOf(market, good, wish)) {
              sourceNo += 1
              placed += 1
              const logged = { source: 'intake', sourceNo, atMs: START_MS, command }
              const data = encode([logged])
              const taken = take({ subject, data, storedAtMs: START_MS })
              expect(taken).to.deep.equal([logged])
              for (const { block } of applyMessage(state, sourceNo, taken)) {
                if (block !== undefined)
                  expect(decodeBlock(encodeBlock(block))).to.deep.equal(block)
              }
            }
          }
          expect(takeSnapshot(restarted(market, state))).to.deep.equal(takeSnapshot(state))
        }),
        { numRuns: runs(150) },
      )
      expect(placed).to.be.greaterThan(100)
    })
  }
})
