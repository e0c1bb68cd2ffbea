import fc from 'fast-check'
import type { Address } from '../../core/action.js'
import { assert } from '../../core/assert.js'
import { applyMessage } from '../../core/engine/apply-message.js'
import type { Block, Change } from '../../core/model/change.js'
import type { Command } from '../../core/model/command.js'
import { openedState } from './builders.js'
import { commandOf, marketActs, START_MS, type MarketAct } from './market-commands.js'

export interface FeedMarket {
  readonly market: string
  readonly ordinal: number
}

/** Owner of all orders of a test feed: another one for each market, since nonces repeat from feed to feed. */
export const feedOwner = ({ ordinal }: FeedMarket): Address =>
  `0x${String(ordinal).padStart(40, 'a')}`

/** The blocks that the real matcher makes of these acts, each act a command message of its own. */
export function feedOf(target: FeedMarket, acts: readonly MarketAct[]): Block[] {
  const state = openedState({ ...target })
  const settlementIds: string[] = []
  const blocks: Block[] = []
  const changes: Change[] = []
  let nowMs = START_MS
  let placed = 0
  // Of one owner the orders that code has signed would be refused beyond twenty: days with those are in code-acts.ts.
  for (const [index, act] of acts.filter((each) => each.act !== 'code').entries()) {
    if (act.act === 'wait') nowMs += act.sec * 1000
    const command = inMarket(target, commandOf(act, { placed, nowMs, settlementIds, changes }))
    if (act.act === 'place') placed += 1
    const logged = { source: 'test', sourceNo: index + 1, atMs: nowMs, command }
    for (const { block } of applyMessage(state, index + 1, [logged])) {
      if (block === undefined) continue
      blocks.push(block)
      changes.push(...block.changes)
      for (const change of block.changes) {
        if (change.kind === 'OrderMatched') settlementIds.push(change.match.settlementId)
      }
    }
  }
  return blocks
}

function inMarket(target: FeedMarket, command: Command): Command {
  const owner = feedOwner(target)
  if (command.kind === 'CancelOrder' || command.kind === 'ReduceOrder') return { ...command, owner }
  const { market } = target
  if (command.kind === 'SignatureChecked') {
    return { ...command, orderId: `${market}/${command.orderId}` }
  }
  if (command.kind !== 'PlaceOrder') return command
  const orderId = `${market}/${command.order.orderId}`
  return { ...command, order: { ...command.order, orderId, market, owner } }
}

/** A market day of so many blocks that always is the same and has placements, cancels, fills and reverts in it. */
export function someBlocks(target: FeedMarket, length: number): Block[] {
  const acts = fc.sample(marketActs(length), { seed: 7, numRuns: 100 }).flat()
  const blocks = feedOf(target, acts).slice(0, length)
  assert(blocks.length === length, `the sample gives ${blocks.length} blocks, not ${length}`)
  return blocks
}
