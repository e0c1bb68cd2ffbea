import { createHash } from 'node:crypto'
import { expect } from 'chai'
import fc from 'fast-check'
import { encodeBlock } from '../../bus-schemas/block-message.js'
import {
  type Checkpoint,
  CheckpointUnusable,
  decodeCheckpoint,
  encodeCheckpoint,
} from '../../bus-schemas/checkpoint-message.js'
import { applyMessage } from '../../core/apply-message.js'
import { checkBook } from '../../core/check-book.js'
import type { AccountObservation } from '../../core/account.js'
import type { Change } from '../../core/change.js'
import type { Command, LoggedCommand } from '../../core/command.js'
import { amountE18, E18, quoteE18 } from '../../core/money.js'
import { restoreSnapshot, takeSnapshot } from '../../core/matcher-snapshot.js'
import { emptyMatcherState, type MatcherState } from '../../core/matcher-state.js'
import { commandOf, type MarketAct, marketActs, START_MS } from '../support/market-commands.js'

const MARKET = 'cNGN-USDC'
const fresh = () => emptyMatcherState({ market: MARKET, ordinal: 1, takerFeeBps: 25 })

function checkpointOf(state: MatcherState, commandSeq = 1): Checkpoint {
  const feed = { messageSeq: commandSeq, sha256: 'ab'.repeat(32) }
  return { market: MARKET, commandSeq, feed, term: 3, state: takeSnapshot(state) }
}
const encoded = (state: MatcherState, commandSeq?: number): Uint8Array[] =>
  [...encodeCheckpoint(checkpointOf(state, commandSeq))].map((data) => new Uint8Array(data))
const restored = (messages: readonly Uint8Array[]): MatcherState =>
  restoreSnapshot(decodeCheckpoint(messages, MARKET).state)

/** What the chain shows of a trader's account before an act, for some of them. */
const observations = fc.array(
  fc.option(
    fc.record({
      subaccountId: fc.bigInt({ min: 1n, max: 5n }),
      base: fc.bigInt({ min: 0n, max: 40n }).map((units) => amountE18(units * E18)),
      quote: fc.bigInt({ min: 0n, max: 40n }).map((units) => quoteE18(units * E18)),
      custodyOwner: fc.constant(`0x${'a'.repeat(40)}` as const),
      leaving: fc.integer({ min: 0, max: 9 }).map((tenth) => tenth === 0),
      blockNumber: fc.bigInt({ min: 1n, max: 20n }),
      blockTimeSec: fc.nat(),
    }),
    { freq: 3 },
  ),
  { maxLength: 80 },
)

/** The command log of a random market day, one command to a message, and the state after it. */
function logOf(acts: readonly MarketAct[], seen: readonly (AccountObservation | null)[] = []) {
  const state = fresh()
  const log: LoggedCommand[] = []
  const settlementIds: string[] = []
  const changes: Change[] = []
  let placed = 0
  let nowMs = START_MS
  const apply = (command: Command): void => {
    const no = log.length + 1
    const logged = { source: `s${no % 3}`, sourceNo: no, atMs: nowMs, command }
    log.push(logged)
    for (const { block } of applyMessage(state, no, [logged])) {
      for (const change of block?.changes ?? []) {
        changes.push(change)
        if (change.kind === 'OrderMatched') settlementIds.push(change.match.settlementId)
      }
    }
  }
  for (const [index, act] of acts.entries()) {
    const account = seen[index] ?? null
    if (account !== null) apply({ kind: 'AccountObserved', account })
    if (act.act === 'wait') nowMs += act.sec * 1_000
    apply(commandOf(act, { placed, nowMs, settlementIds, changes }))
    if (act.act === 'place') placed += 1
  }
  return { log, state }
}

/** Applies the commands and returns the blocks as the feed would hold them. */
function replay(state: MatcherState, log: readonly LoggedCommand[], from: number): string[] {
  return log.slice(from).flatMap((logged, index) => {
    const groups = [...applyMessage(state, from + index + 1, [logged])]
    checkBook(state)
    return groups.flatMap(({ block }) =>
      block === undefined ? [] : [Buffer.from(encodeBlock(block)).toString('utf8')],
    )
  })
}

/** A market in which every field of an order is set on some order. */
const someDay = () => {
  const acts = fc.sample(marketActs(120), { numRuns: 40, seed: 5 })
  return logOf(acts.reduce((longest, each) => (each.length > longest.length ? each : longest)))
}

describe('checkpoints', () => {
  it('restored at any place of any log go on to the very same blocks and state', () => {
    fc.assert(
      fc.property(marketActs(80), observations, fc.nat(120), (acts, seen, place) => {
        const { log, state } = logOf(acts, seen)
        const at = Math.min(place, log.length)
        const early = fresh()
        replay(early, log.slice(0, at), 0)
        const messages = encoded(early, at)
        const again = restored(messages)
        expect(again).to.deep.equal(early)
        expect(encoded(again, at)).to.deep.equal(messages)
        expect(replay(again, log, at)).to.deep.equal(replay(early, log, at))
        expect(encoded(again)).to.deep.equal(encoded(state))
        expect(encoded(early)).to.deep.equal(encoded(state))
      }),
    )
  })

  it('give back everything they were made of', () => {
    const { state } = someDay()
    state.reviews.add(1n)
    const { state: kept, ...rest } = decodeCheckpoint(encoded(state, 17), MARKET)
    expect(rest).to.deep.equal({
      market: MARKET,
      commandSeq: 17,
      feed: { messageSeq: 17, sha256: 'ab'.repeat(32) },
      term: 3,
    })
    const again = restoreSnapshot(kept)
    expect(again).to.deep.equal(state)
    expect(kept.orders.length).to.be.greaterThan(0)
  })

  it('are not changed by what the market does afterwards', () => {
    const { log } = someDay()
    const half = Math.floor(log.length / 2)
    const state = fresh()
    replay(state, log.slice(0, half), 0)
    const before = encoded(state)
    const later = encodeCheckpoint(checkpointOf(state))
    replay(state, log, half)
    expect([...later].map((data) => new Uint8Array(data))).to.deep.equal(before)
    expect(encoded(state)).to.not.deep.equal(before)
  })

  it('of a large market come in many messages, none of them large', () => {
    const state = fresh()
    const place: MarketAct = {
      ...{ act: 'place', buy: true, price: 95, size: 1, trader: 1, livesSec: 86_400 },
      unchecked: false,
    }
    const log = Array.from({ length: 500 }, (_, index): LoggedCommand => {
      const command = commandOf(place, { placed: index, nowMs: START_MS, settlementIds: [] })
      return { source: 's', sourceNo: index + 1, atMs: START_MS, command }
    })
    replay(state, log, 0)
    const messages = encoded(state)
    expect(messages.length).to.be.greaterThan(5)
    expect(Math.max(...messages.map(({ length }) => length))).to.be.lessThan(200_000)
    expect(restored(messages)).to.deep.equal(state)
  })

  describe('that are damaged', () => {
    const place: MarketAct = {
      ...{ act: 'place', buy: true, price: 95, size: 1, trader: 1, livesSec: 60 },
      unchecked: true,
    }
    const { state } = logOf([place])
    const whole = encoded(state)
    const refused = (messages: readonly Uint8Array[], what: string) =>
      expect(() => decodeCheckpoint(messages, MARKET), what).to.throw(CheckpointUnusable)
    const replaced = (at: number, data: Uint8Array) =>
      whole.map((message, index) => (index === at ? data : message))

    it('by a flipped bit anywhere are refused', () => {
      for (const [index, message] of whole.entries()) {
        for (let offset = 0; offset < message.length; offset += 1) {
          const data = new Uint8Array(message)
          data[offset] = (data[offset] ?? 0) ^ (1 << (offset % 8))
          refused(replaced(index, data), `message ${index}, byte ${offset}`)
        }
      }
    })

    it('by an end cut off anywhere are refused', () => {
      for (const [index, message] of whole.entries()) {
        for (let length = 0; length < message.length; length += 1) {
          refused(replaced(index, message.subarray(0, length)), `message ${index} to ${length}`)
        }
      }
    })

    it('by a message that is missing, twice there or out of place are refused', () => {
      for (const index of whole.keys()) {
        refused([...whole.slice(0, index), ...whole.slice(index + 1)], `without ${index}`)
        refused([...whole.slice(0, index + 1), ...whole.slice(index)], `${index} twice`)
      }
      refused([...whole].reverse(), 'reversed')
      refused([], 'nothing')
    })
  })

  it('of another market or another version are refused', () => {
    const messages = encoded(fresh())
    expect(() => decodeCheckpoint(messages, 'cNGN-PERP')).to.throw(CheckpointUnusable, 'of cNGN')
    const foreign = sealOfVersion(messages, 2)
    expect(() => decodeCheckpoint(foreign, MARKET)).to.throw(CheckpointUnusable, 'version 2')
  })
})

/** The messages as a build of another version would seal them. */
function sealOfVersion(messages: readonly Uint8Array[], version: number): Uint8Array[] {
  const parts = messages.slice(0, -1)
  const [line = ''] = Buffer.from(messages.at(-1) ?? [])
    .toString('utf8')
    .split('\n')
  const other = line.replace('"v":3', `"v":${version}`)
  const hash = createHash('sha256')
  for (const part of parts) hash.update(part)
  return [...parts, Buffer.from(`${other}\n${hash.update(other).digest('hex')}`)]
}
