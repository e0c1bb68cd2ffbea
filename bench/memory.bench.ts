import { createAccountWatch } from '../actors/chain-reader/account-watch.js'
import { createOrderWatch } from '../actors/order-intake/order-watch.js'
import { decodeBlock } from '../bus-schemas/blocks.js'
import { openingOf } from '../core/model/market-terms.js'
import { applyMessage } from '../core/engine/apply-message.js'
import { emptyMatcherState } from '../core/engine/empty-state.js'
import { applyChange, emptyView } from '../core/engine/feed.js'
import { LIVE_ORDERS_MAX } from '../core/model/limits.js'
import type { LoggedCommand } from '../core/model/command.js'
import { benchMarket, decodeCommands, encodeCommands } from './bench-market.js'
import { logged, placing, restingOrder } from './bench-orders.js'
import type { Bench, BenchContext, Report } from './bench.js'
import { heapBytes } from './heap.js'
import { BATCH, blocksOf, messagesOf } from './walk-blocks.js'

export const memory: Bench = {
  name: 'memory',
  title:
    'Memory of a resting order in every process that keeps live orders, after collecting garbage.',
  versionsOf: [],
  run,
}

const ORDERS = { tiny: 1_000, usual: LIVE_ORDERS_MAX, full: LIVE_ORDERS_MAX }
/** Orders whose blocks are made at a time, so that little but the measured state is in memory. */
const CHUNK = 8_192
const GOAL_BYTES = 2_048

/** A process's state after the orders; whatever it returns is kept until the heap is measured. */
type Fill = (orders: number) => { readonly kept: number; readonly state: unknown }

async function run({ size, say }: BenchContext): Promise<Report> {
  const orders = ORDERS[size]
  const bytes: Record<string, number> = {}
  for (const [name, fill] of Object.entries({ matcher, intake, fanOut, chainReader })) {
    // The first fill loads and compiles what is measured with the second.
    fill(BATCH)
    bytes[name] = await measured(name, fill, orders)
    say(`${name}: ${Math.round(bytes[name])} bytes`)
  }
  const all = Object.values(bytes).reduce((sum, each) => sum + each, 0)
  const row = (what: string, value = 0) => ({ what, unit: 'bytes', values: [value] })
  return {
    rows: [
      row('matcher: live orders, accounts, deadlines', bytes['matcher']),
      row('order-intake: watch over signatures', bytes['intake']),
      row('ws-fanout: records of the book', bytes['fanOut']),
      row('chain-reader: accounts of the orders', bytes['chainReader']),
      { ...row('a resting order, together', all), goal: { atMost: GOAL_BYTES } },
    ],
    notes: [
      `The heap of this process with ${orders} resting orders of 1,000 accounts less that without, once. All are read from messages as the processes read them. The intake has recovered their signatures on the way in. The projector keeps no orders; rendered books and recent frames are not included, because they do not grow with each order of each process.`,
    ],
  }
}

async function measured(name: string, fill: Fill, orders: number): Promise<number> {
  const before = await heapBytes()
  const filled = fill(orders)
  const bytes = (await heapBytes()) - before
  if (filled.kept !== orders) throw new Error(`${name} keeps ${filled.kept} of ${orders} orders`)
  return bytes / orders
}

function matcher(orders: number): ReturnType<Fill> {
  const state = emptyMatcherState(openingOf(benchMarket()))
  let seq = 0
  for (const commands of placements(orders)) {
    seq += 1
    const read = decodeCommands(encodeCommands(commands))
    for (const step of applyMessage(state, seq, read)) void step
  }
  return { kept: state.orders.size, state }
}

function intake(orders: number): ReturnType<Fill> {
  const watch = createOrderWatch(() => '0x')
  let seq = 0
  for (const message of feedOf(orders)) {
    const block = decodeBlock(message)
    for (const { orderId } of block.changes) watch.recovered(block.market, orderId)
    seq += 1
    watch.apply(seq, block)
  }
  return { kept: watch.size(), state: watch }
}

function fanOut(orders: number): ReturnType<Fill> {
  const view = emptyView(benchMarket())
  for (const message of feedOf(orders)) {
    for (const change of decodeBlock(message).changes) applyChange(view, change)
  }
  return { kept: view.live.size, state: view }
}

function chainReader(orders: number): ReturnType<Fill> {
  const watch = createAccountWatch()
  for (const message of feedOf(orders)) watch.apply(decodeBlock(message))
  return { kept: watch.orders(), state: watch }
}

/** Placements that never cross, BATCH in a message. */
function* placements(orders: number, first = 1): Generator<LoggedCommand[]> {
  for (let from = first; from < first + orders; from += BATCH) {
    const count = Math.min(BATCH, first + orders - from)
    yield Array.from({ length: count }, (_, index) =>
      logged(placing(restingOrder(from + index)), from + index),
    )
  }
}

/** The messages of the feed that place the orders. */
function* feedOf(orders: number): Generator<Uint8Array> {
  let seq = 1
  for (let from = 1; from <= orders; from += CHUNK) {
    const count = Math.min(CHUNK, orders - from + 1)
    const blocks = blocksOf([...placements(count, from)].flat())
    for (const { streamSeq, block } of blocks) {
      const changes = block.changes.map((change) => ({ ...change, seq: seq++ }))
      const [{ seq: firstSeq } = { seq }] = changes
      yield* messagesOf([{ streamSeq, block: { ...block, firstSeq, changes } }])
    }
  }
}
