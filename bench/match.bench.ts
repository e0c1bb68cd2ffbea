import { isDeepStrictEqual } from 'node:util'
import { OrderBook } from 'nodejs-order-book'
import { encodeBlock } from '../bus-schemas/block-message.js'
import { decodeCommands, encodeCommands } from '../bus-schemas/command-message.js'
import { applyCommand } from '../core/apply-command.js'
import { applyMessage } from '../core/apply-message.js'
import type { LoggedCommand } from '../core/command.js'
import { emptyMatcherState, type MatcherState } from '../core/matcher-state.js'
import type { Bench, BenchContext, Report } from './bench.js'
import { benchMarket } from './bench-market.js'
import { memoryAtRest } from './match-memory.js'
import { depthOfPeer, depthOfVenue, peerStepsOf, type PeerStep, playOnPeer } from './match-peer.js'
import { interleaved, ratio, took } from './rounds.js'
import { BATCH, batchesOf } from './walk-blocks.js'
import { createWalk, type Walk } from './walk.js'

export const match: Bench = {
  name: 'match',
  title:
    "A market's pure step beside `nodejs-order-book` on one walk: 60 % passive orders, 30 % cancels, 10 % crossing orders.",
  versionsOf: ['nodejs-order-book', 'zod'],
  run,
}

/** Steps of the walk, whose matches must not reach the bound of those that wait for settlement; and its repeats. */
const STEPS = { tiny: 500, usual: 40_000, full: 40_000 }
const REPEATS = { tiny: 1, usual: 1, full: 5 }

async function run({ size, rounds, say }: BenchContext): Promise<Report> {
  const walk = createWalk(STEPS[size])
  const repeats = REPEATS[size]
  const peerSteps = peerStepsOf(walk.steps)
  assertSameBook(walk, peerSteps)
  say(`${walk.steps.length} steps make ${walk.state.matches.size} matches`)
  const messages = messagesOf(walk.commands)
  const settledMessages = messagesOf(walk.settled)
  const perStep = (work: () => void) => usPerStep(work, repeats, walk.steps.length)
  const { venue, settled, peer, encoded, encodedSettled } = await interleaved(rounds, {
    venue: () => perStep(() => apply(walk.commands)),
    settled: () => perStep(() => apply(walk.settled)),
    peer: () => perStep(() => playOnPeer(new OrderBook(), peerSteps)),
    encoded: () => perStep(() => runMessages(messages)),
    encodedSettled: () =>
      usPerStep(() => runMessages(settledMessages), repeats, walk.settled.length),
  })
  say('memory')
  const memory = await memoryAtRest(size)
  return {
    rows: [
      { what: 'venue: step', unit: 'µs', values: venue },
      { what: 'nodejs-order-book', unit: 'µs', values: peer },
      ratio('nodejs-order-book / venue', [peer, venue], { atLeast: 5 }),
      { what: 'venue: step with the settlement of every match', unit: 'µs', values: settled },
      ratio('nodejs-order-book / venue with settlement', [peer, settled]),
      {
        what: `venue: decode, step, encode, batches of ${BATCH}`,
        unit: 'µs',
        values: encoded,
        goal: { atMost: 10 },
      },
      {
        what: 'venue: the same, a command of a log with settlements',
        unit: 'µs',
        values: encodedSettled,
      },
      ...memory.rows,
    ],
    notes: [
      `Processor time of a step of the walk, ${walk.steps.length} steps and ${walk.state.matches.size} matches from an empty book; both end with the same orders, prices and sizes. The peer computes with floats, knows no accounts, fees, expiry or settlement.`,
      memory.note,
    ],
  }
}

async function usPerStep(work: () => void, repeats: number, steps: number): Promise<number> {
  const { cpuMs } = await took(() => {
    for (let repeat = 0; repeat < repeats; repeat += 1) work()
  })
  return (cpuMs * 1000) / (repeats * steps)
}

function apply(commands: readonly LoggedCommand[]): MatcherState {
  const state = emptyMatcherState(benchMarket())
  for (const command of commands) applyCommand(state, command)
  return state
}

const messagesOf = (commands: readonly LoggedCommand[]): Uint8Array[] =>
  batchesOf(commands).map(encodeCommands)

/** What a matcher does with its log, apart from reading and writing it. */
function runMessages(messages: readonly Uint8Array[]): MatcherState {
  const state = emptyMatcherState(benchMarket())
  for (const [index, data] of messages.entries()) {
    for (const { block } of applyMessage(state, index + 1, decodeCommands(data))) {
      if (block !== undefined) encodeBlock(block)
    }
  }
  return state
}

/** Nothing is worth measuring before both end with the same book. */
function assertSameBook({ state }: Walk, steps: readonly PeerStep[]): void {
  const peer = new OrderBook()
  playOnPeer(peer, steps)
  if (isDeepStrictEqual(depthOfVenue(state.book), depthOfPeer(peer))) return
  throw new Error('the venue and its peer end with different books')
}
