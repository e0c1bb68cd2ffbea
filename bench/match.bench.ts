import { isDeepStrictEqual } from 'node:util'
import { encodeBlock } from '../bus-schemas/blocks.js'
import { applyMessage } from '../core/engine/apply-message.js'
import type { LoggedCommand } from '../core/engine/command.js'
import { openingOf } from '../core/contracts/market-terms.js'
import { emptyMatcherState, type MatcherState } from '../core/engine/state.js'
import { benchMarket } from './bench-market.js'
import type { Bench, BenchContext, Report } from './bench.js'
import { memoryAtRest } from './match-memory.js'
import { depthOfPeer, depthOfVenue, peerStepsOf, type Depth, type PeerStep } from './match-peer.js'
import { stretchesOf, timePeer, timeVenue, type Stretch } from './match-steps.js'
import { interleaved, ratio, took } from './rounds.js'
import { BATCH, batchesOf } from './walk-blocks.js'
import { createWalk, type Walk } from './walk.js'
import { decodeCommands, encodeCommands } from './bench-market.js'

export const match: Bench = {
  name: 'match',
  title:
    "A market's pure step compared with `nodejs-order-book` on one walk: 60 % passive orders, 30 % cancels, 10 % crossing orders.",
  versionsOf: ['nodejs-order-book', 'zod'],
  run,
}

/** Steps of the walk, and of its first part that is also decoded and encoded. */
const STEPS = { tiny: 500, usual: 100_000, full: 400_000 }
const ENCODED_STEPS = 40_000

async function run({ size, rounds, say }: BenchContext): Promise<Report> {
  const walk = createWalk(STEPS[size])
  const stretches = stretchesOf(walk.commands)
  const peerSteps = peerStepsOf(walk.steps)
  assertSameBook(walk, stretches, peerSteps)
  const matches = walk.settled.length - walk.steps.length
  say(`${walk.steps.length} steps make ${matches} matches`)
  const messages = messagesOf(walk.commands.slice(0, ENCODED_STEPS))
  const settledMessages = messagesOf(walk.settled.slice(0, ENCODED_STEPS))
  const encodedSteps = Math.min(walk.steps.length, ENCODED_STEPS)
  const settled: number[] = []
  const { step, peer, encoded, encodedSettled } = await interleaved(rounds, {
    step: () => {
      const times = timeVenue(stretches)
      settled.push(times.settled)
      return times.step
    },
    peer: () => timePeer(peerSteps),
    encoded: () => usPerStep(() => runMessages(messages), encodedSteps),
    encodedSettled: () => usPerStep(() => runMessages(settledMessages), encodedSteps),
  })
  // The warm-up round included.
  settled.shift()
  say('memory')
  const memory = await memoryAtRest(size)
  return {
    rows: [
      { what: 'venue: step', unit: 'µs', values: step },
      { what: 'nodejs-order-book', unit: 'µs', values: peer },
      ratio('nodejs-order-book / venue', [peer, step], { atLeast: 5 }),
      { what: 'venue: step with the settlement of every match', unit: 'µs', values: settled },
      ratio('nodejs-order-book / venue with settlement', [peer, settled]),
      {
        what: `venue: decode, step, encode a command, batches of ${BATCH}`,
        unit: 'µs',
        values: encodedSettled,
        goal: { atMost: 10 },
      },
      { what: 'venue: the same where nothing is ever settled', unit: 'µs', values: encoded },
      ...memory.rows,
    ],
    notes: [
      `Processor time of a step of the walk, ${walk.steps.length} steps and ${matches} matches from an empty book; both end with the same orders, prices and sizes. The venue settles the matches of each 256 steps after them, outside the measured step. The peer computes with floats and has no accounts, fees, expiry or settlement.`,
      memory.note,
    ],
  }
}

async function usPerStep(work: () => void, steps: number): Promise<number> {
  const { cpuMs } = await took(work)
  return (cpuMs * 1000) / steps
}

const messagesOf = (commands: readonly LoggedCommand[]): Uint8Array[] =>
  batchesOf(commands).map(encodeCommands)

/** A matcher's work on its log, without the input and output. */
function runMessages(messages: readonly Uint8Array[]): MatcherState {
  const state = emptyMatcherState(openingOf(benchMarket()))
  for (const [index, data] of messages.entries()) {
    for (const { block } of applyMessage(state, index + 1, decodeCommands(data))) {
      if (block !== undefined) encodeBlock(block)
    }
  }
  return state
}

/** Check before the measurement: all end with the same book. */
function assertSameBook(
  walk: Walk,
  stretches: readonly Stretch[],
  steps: readonly PeerStep[],
): void {
  const depth = depthOfVenue(walk.state.book)
  const same = (other: Depth) => {
    if (isDeepStrictEqual(depth, other)) return
    throw new Error('the venue and its peer end with different books')
  }
  timePeer(steps, (book) => same(depthOfPeer(book)))
  timeVenue(stretches, ({ book }) => same(depthOfVenue(book)))
}
