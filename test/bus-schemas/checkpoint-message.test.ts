import { expect } from 'chai'
import fc from 'fast-check'
import { createHash } from 'node:crypto'
import { encodeBlock } from '../../bus-schemas/blocks.js'
import { since } from '../../bus-schemas/envelope.js'
import {
  CheckpointUnusable,
  decodeCheckpoint,
  encodeCheckpoint,
} from '../../bus-schemas/checkpoint.js'
import {
  checkpointForm,
  checkpointVersion,
  checkpointVersions,
  type Checkpoint,
} from '../../bus-schemas/checkpoint-form.js'
import { InvariantBroken } from '../../core/assert.js'
import { applyMessage } from '../../core/engine/apply-message.js'
import type { Change } from '../../core/model/change.js'
import { checkBook } from '../../core/engine/check-state.js'
import type { Command, LoggedCommand } from '../../core/model/command.js'
import { ENGINE_VERSION } from '../../core/engine/engine-version.js'
import { restoreSnapshot } from '../../core/engine/snapshot.js'
import type { MatcherState } from '../../core/engine/state.js'
import type { AccountObservation } from '../../core/model/observation.js'
import type { Codec } from '../../core/wire/codec.js'
import { openedState } from '../support/builders.js'
import { codeActs } from '../support/code-acts.js'
import { observations } from '../support/funded-acts.js'
import {
  commandOf,
  marketActs,
  ruledActs,
  START_MS,
  type MarketAct,
} from '../support/market-commands.js'
import { runs } from '../support/property-runs.js'
import { startCapture, takeSnapshot } from '../support/snapshots.js'

const MARKET = 'cNGN-USDC'
const LOG_MARKET = { market: MARKET, contractType: 'spot' } as const
const fresh = () => openedState()

function checkpointOf(state: MatcherState, commandSeq = 1): Checkpoint {
  const feed = { messageSeq: commandSeq, sha256: 'ab'.repeat(32) }
  return { market: MARKET, commandSeq, feed, term: 3, state: takeSnapshot(state) }
}
const bytesOf = (texts: Iterable<string>): Uint8Array[] =>
  Array.from(texts, (text) => new TextEncoder().encode(text))
const encoded = (state: MatcherState, commandSeq?: number): Uint8Array[] =>
  bytesOf(encodeCheckpoint(checkpointOf(state, commandSeq)))
const restored = (messages: readonly Uint8Array[]): MatcherState =>
  restoreSnapshot(decodeCheckpoint(messages, LOG_MARKET).state)

/** A day of one owner, or of three of whom some sign by code. */
const anyDay = fc.oneof(
  fc.tuple(ruledActs(80), fc.constant(1)),
  fc.tuple(codeActs(80), fc.constant(3)),
)

/** The command log of a random market day, one command to a message, and the state after it. */
function logOf(
  acts: readonly MarketAct[],
  seen: readonly (AccountObservation | null)[] = [],
  owners = 1,
) {
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
    apply(commandOf(act, { placed, nowMs, settlementIds, changes, owners }))
    if (act.act === 'place') placed += 1
    if (act.act === 'signature' && act.valid) {
      // The order may be signed by a session key that ends before it.
      const orderId = `o${1 + (act.pick % (placed + 1))}`
      apply({ kind: 'SessionKeyObserved', orderId, endsSec: Math.floor(nowMs / 1_000) + 60 })
    }
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
      fc.property(anyDay, observations, fc.nat(120), ([acts, owners], seen, place) => {
        const { log, state } = logOf(acts, seen, owners)
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

  it('hold the state of their place, however far the market goes on while they are read', () => {
    let read = 0
    fc.assert(
      fc.property(
        fc.array(fc.oneof(ruledActs(80), codeActs(80)), { minLength: 5, maxLength: 10 }),
        observations,
        fc.nat(99),
        fc.array(fc.nat(4), { minLength: 1 }),
        (parts, seen, percent, paces) => {
          const { log } = logOf(parts.flat(), seen)
          const at = Math.floor((log.length * percent) / 100)
          const state = fresh()
          replay(state, log.slice(0, at), 0)
          const expected = takeSnapshot(state)
          const reading = startCapture(state)
          for (const [index, logged] of log.slice(at).entries()) {
            reading.read(paces[index % paces.length] ?? 0)
            for (const { block } of applyMessage(state, at + index + 1, [logged])) {
              read += block?.changes.length ?? 0
            }
          }
          const captured = reading.finish()
          expect(captured).to.deep.equal(expected)
          expect(takeSnapshot(restoreSnapshot(captured))).to.deep.equal(expected)
        },
      ),
      { numRuns: runs(150) },
    )
    expect(read, 'changes during all captures').to.be.above(1_000)
  })

  it('give back everything they were made of', () => {
    const { state } = someDay()
    state.reviews.add(1n)
    const { state: kept, ...rest } = decodeCheckpoint(encoded(state, 17), LOG_MARKET)
    expect(rest).to.deep.equal({
      market: MARKET,
      commandSeq: 17,
      feed: { messageSeq: 17, sha256: 'ab'.repeat(32) },
      term: 3,
    })
    const again = restoreSnapshot(kept)
    expect(again).to.deep.equal(state)
    expect([...kept.orders].length).to.be.greaterThan(0)
  })

  it('are not changed by what the market does afterwards', () => {
    const { log } = someDay()
    const half = Math.floor(log.length / 2)
    const state = fresh()
    replay(state, log.slice(0, half), 0)
    const before = encoded(state)
    const later = encodeCheckpoint(checkpointOf(state))
    replay(state, log, half)
    expect(bytesOf(later)).to.deep.equal(before)
    expect(encoded(state)).to.not.deep.equal(before)
  })

  it('keep which leases were set while the clock stood still', () => {
    const owner = `0x${'a'.repeat(40)}` as const
    const at = (sourceNo: number, command: Command): LoggedCommand => {
      return { source: 's', sourceNo, atMs: START_MS + sourceNo * 3_600_000, command }
    }
    const skewed = at(1, { kind: 'ClockObserved', chainMs: START_MS })
    const set = at(2, { kind: 'SetLease', owner, seconds: 30, opens: true })
    const { atMs } = at(3, { kind: 'Tick' })
    const right = at(3, { kind: 'ClockObserved', chainMs: atMs })
    const state = fresh()
    replay(state, [skewed, set], 0)
    const again = restored(encoded(state))
    expect(again).to.deep.equal(state)
    replay(again, [skewed, set, right], 2)
    expect([...again.leases.byKey.values()]).to.deep.equal([{ owner, endsAtMs: atMs + 30_000 }])
  })

  it('of a large market come in many messages, none of them large', () => {
    const state = fresh()
    const place: MarketAct = {
      act: 'place',
      buy: true,
      price: 95,
      size: 1,
      trader: 1,
      livesSec: 86_400,
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
      act: 'place',
      buy: true,
      price: 95,
      size: 1,
      trader: 1,
      livesSec: 60,
      unchecked: true,
    }
    const { state } = logOf([place])
    const whole = encoded(state)
    const refused = (messages: readonly Uint8Array[], what: string) =>
      expect(() => decodeCheckpoint(messages, LOG_MARKET), what).to.throw(CheckpointUnusable)
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
    expect(() => decodeCheckpoint(messages, { ...LOG_MARKET, market: 'cNGN-PERP' })).to.throw(
      CheckpointUnusable,
      'of cNGN',
    )
    const foreign = trailerOfVersion(messages, 2)
    expect(() => decodeCheckpoint(foreign, LOG_MARKET)).to.throw(CheckpointUnusable, 'version 2')
  })

  it('of a newer version are refused for good, not skipped, and say what to run', () => {
    const newer = trailerOfVersion(encoded(fresh()), VERSION + 1)
    expect(() => decodeCheckpoint(newer, LOG_MARKET)).to.throw(
      InvariantBroken,
      `a checkpoint of ${MARKET} is of version ${VERSION + 1}, this build reads version ${VERSION}: run the release that wrote it`,
    )
  })

  it('of an older version are read by the upcast of their content', () => {
    const { form } = checkpointVersions(LOG_MARKET)
    // Before, a checkpoint did not say the engine version, which was always this one.
    const older = checkpointForm(anyJson, form.lists)
    const versions = since(VERSION - 1, older).next(form, ({ head, lists }) => {
      const [commandSeq, feed, term, scalars] = head as readonly [
        unknown,
        unknown,
        unknown,
        unknown[],
      ]
      const scalarsNow = scalars.toSpliced(ENGINE_VERSION_AT, 0, ENGINE_VERSION)
      return { head: form.head.read([commandSeq, feed, term, scalarsNow], 'head'), lists }
    })
    fc.assert(
      fc.property(marketActs(40), observations, (acts, seen) => {
        const { state } = logOf(acts, seen)
        const messages = encoded(state)
        const checkpoint = decodeCheckpoint(messages, LOG_MARKET)
        expect(decodeCheckpoint(olderOf(messages), LOG_MARKET, versions)).to.deep.equal(checkpoint)
        expect(decodeCheckpoint(messages, LOG_MARKET, versions)).to.deep.equal(checkpoint)
      }),
      { numRuns: runs(30) },
    )
  })
})

const VERSION = checkpointVersion(LOG_MARKET)
/** The place of the engine version among the scalars of the head. */
const ENGINE_VERSION_AT = 4
const anyJson: Codec<unknown> = { write: (value) => JSON.stringify(value), read: (json) => json }

/** The messages as the version before would have written them. */
function olderOf(messages: readonly Uint8Array[]): Uint8Array[] {
  const [first, ...rest] = messages
  const [line = '', rows = ''] = Buffer.from(first ?? [])
    .toString('utf8')
    .split('\n')
  const [[commandSeq, feed, term, scalars]] = JSON.parse(rows) as [
    [unknown, unknown, unknown, unknown[]],
  ]
  const head = [commandSeq, feed, term, scalars.toSpliced(ENGINE_VERSION_AT, 1)]
  return trailerOfVersion([Buffer.from(`${line}\n${JSON.stringify([head])}`), ...rest], VERSION - 1)
}

/** The messages as a build of another version would end them. */
function trailerOfVersion(messages: readonly Uint8Array[], version: number): Uint8Array[] {
  const parts = messages.slice(0, -1)
  const [line = ''] = Buffer.from(messages.at(-1) ?? [])
    .toString('utf8')
    .split('\n')
  const other = line.replace(/^\[\d+,/, `[${version},`)
  const hash = createHash('sha256')
  for (const part of parts) hash.update(part)
  return [...parts, Buffer.from(`${other}\n${hash.update(other).digest('hex')}`)]
}
