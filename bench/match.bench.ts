import { isDeepStrictEqual } from 'node:util'
import { encodeBlock } from '../bus-schemas/blocks.js'
import { applyMessage } from '../core/engine/apply-message.js'
import { emptyMatcherState } from '../core/engine/empty-state.js'
import type { LoggedCommand } from '../core/model/command.js'
import { openingOf } from '../core/model/market-terms.js'
import { benchMarket } from './bench-market.js'
import type { Bench, BenchContext, Report, Size } from './bench.js'
import { memoryAtRest } from './match-memory.js'
import { depthOfPeer, depthOfVenue, peerStepsOf, type Depth } from './match-peer.js'
import { stretchesOf, timePeer, timeVenue } from './match-steps.js'
import { interleaved, ratio, took } from './rounds.js'
import { BATCH, batchesOf } from './walk-blocks.js'
import { createStaticWalk, createWalk, type Walk } from './walk.js'
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
/** Orders of the deep book: close to the bound of a market. */
const RESTING = { tiny: 400, usual: 190_000, full: 190_000 }
const DEEP_STEPS = { tiny: 300, usual: 12_000, full: 60_000 }

async function run({ size, rounds, say }: BenchContext): Promise<Report> {
  const walk = createWalk(STEPS[size])
  const drifting = contestOf(walk)
  const matches = walk.settled.length - walk.steps.length
  say(`${walk.steps.length} steps make ${matches} matches`)
  const messages = messagesOf(walk.commands.slice(0, ENCODED_STEPS))
  const settledMessages = messagesOf(walk.settled.slice(0, ENCODED_STEPS))
  const json = jsonOf(settledMessages)
  const encodedSteps = Math.min(walk.steps.length, ENCODED_STEPS)
  const settledCommands = Math.min(walk.settled.length, ENCODED_STEPS)
  const settled: number[] = []
  const times = await interleaved(rounds, {
    step: () => {
      const { step, settled: both } = drifting.venue()
      settled.push(both)
      return step
    },
    peer: drifting.peer,
    encoded: () => usPerStep(() => runMessages(messages), encodedSteps),
    encodedSettled: () => usPerStep(() => runMessages(settledMessages), settledCommands),
    json: () => usPerStep(() => parseAndWrite(json), settledCommands),
  })
  const { step, peer, encoded, encodedSettled } = times
  // The warm-up round included.
  settled.shift()
  const deep = await onDeepBook(size, rounds)
  say('memory')
  const memory = await memoryAtRest(size)
  const of = `${new Intl.NumberFormat('en').format(RESTING[size])} orders rest`
  return {
    rows: [
      { what: 'venue: step', unit: 'µs', values: step },
      { what: 'nodejs-order-book', unit: 'µs', values: peer },
      ratio('nodejs-order-book / venue', [peer, step], { atLeast: 1 }),
      { what: 'venue: step with the settlement of every match', unit: 'µs', values: settled },
      ratio('nodejs-order-book / venue with settlement', [peer, settled]),
      {
        what: `venue: decode, step, encode a command, batches of ${BATCH}`,
        unit: 'µs',
        values: encodedSettled,
      },
      {
        what: 'JSON.parse and JSON.stringify of the same messages',
        unit: 'µs',
        values: times.json,
      },
      ratio('venue / JSON.parse and JSON.stringify', [encodedSettled, times.json], { atMost: 2 }),
      { what: 'venue: the same where nothing is ever settled', unit: 'µs', values: encoded },
      { what: `${of}: venue, step`, unit: 'µs', values: deep.venue },
      { what: `${of}: nodejs-order-book`, unit: 'µs', values: deep.peer },
      ratio(`${of}: nodejs-order-book / venue`, [deep.peer, deep.venue], { atLeast: 8 }),
      ...memory.rows,
    ],
    notes: [
      `Processor time of a step of the walk, ${walk.steps.length} steps and ${matches} matches from an empty book; both end with the same orders, prices and sizes. The venue settles the matches of each 256 steps after them, outside the measured step. The peer computes with floats and has no accounts, fees, expiry or settlement.`,
      `${encodedSteps} commands are decoded, applied and their blocks encoded; the peer parses the same messages of commands and writes the same messages of blocks, from values parsed before.`,
      `Where so many orders rest, a step is one of ${DEEP_STEPS[size]}: half place an order among 500 prices of a side, four of ten cancel one of them all, one of ten takes at most three lots at the best price.`,
      memory.note,
    ],
  }
}

/** After all else: so many orders in the heap make each collection of garbage longer. */
function onDeepBook(size: Size, rounds: number) {
  const { filling, walk } = createStaticWalk(RESTING[size], DEEP_STEPS[size])
  const { venue, peer } = contestOf(walk, filling)
  return interleaved(rounds, { venue: () => venue().step, peer })
}

async function usPerStep(work: () => void, steps: number): Promise<number> {
  const { cpuMs } = await took(work)
  return (cpuMs * 1000) / steps
}

const messagesOf = (commands: readonly LoggedCommand[]): Uint8Array[] =>
  batchesOf(commands).map(encodeCommands)

/** A matcher's work on its log, without the input and output. */
function runMessages(
  messages: readonly Uint8Array[],
  onBlock: (data: Uint8Array) => void = () => undefined,
): void {
  const state = emptyMatcherState(openingOf(benchMarket()))
  for (const [index, data] of messages.entries()) {
    for (const { block } of applyMessage(state, index + 1, decodeCommands(data))) {
      if (block !== undefined) onBlock(encodeBlock(block))
    }
  }
}

/** The lines of messages that JSON can read, and the values of the blocks that follow from them. */
interface JsonWork {
  readonly texts: readonly Uint8Array[]
  readonly values: readonly (readonly unknown[])[]
}

const linesOf = (data: Uint8Array): string[] =>
  Buffer.from(data)
    .toString('utf8')
    .split('\n')
    .filter((line) => /^[[{]/.test(line))

function jsonOf(messages: readonly Uint8Array[]): JsonWork {
  const blocks: Uint8Array[] = []
  runMessages(messages, (block) => blocks.push(block))
  return {
    texts: messages,
    values: blocks.map((block) => linesOf(block).map((line) => JSON.parse(line) as unknown)),
  }
}

function parseAndWrite({ texts, values }: JsonWork): void {
  for (const data of texts) for (const line of linesOf(data)) JSON.parse(line)
  for (const lines of values) {
    Buffer.from(lines.map((line) => JSON.stringify(line)).join('\n'))
  }
}

/** A walk for both, after the check that they end with the same book. */
function contestOf(walk: Walk, filled?: Walk) {
  const stretches = stretchesOf(walk.commands, filled?.commands)
  const steps = peerStepsOf(walk.steps)
  const filling = filled?.commands ?? []
  const peerFilling = peerStepsOf(filled?.steps ?? [])
  const depth = depthOfVenue(walk.state.book)
  const same = (other: Depth) => {
    if (isDeepStrictEqual(depth, other)) return
    throw new Error('the venue and its peer end with different books')
  }
  timePeer(steps, { filling: peerFilling, onEnd: (book) => same(depthOfPeer(book)) })
  timeVenue(stretches, { filling, onEnd: ({ book }) => same(depthOfVenue(book)) })
  return {
    venue: () => timeVenue(stretches, { filling }),
    peer: () => timePeer(steps, { filling: peerFilling }),
  }
}
