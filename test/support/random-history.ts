import { applyCommand } from '../../core/engine/apply-command.js'
import type { Change } from '../../core/model/change.js'
import type { Command } from '../../core/model/command.js'
import type { Order, Side } from '../../core/model/order.js'
import { amountE18, E18, feePerUnitE18, priceE18 } from '../../core/money.js'
import { openedState, anOrder } from './builders.js'

/** One step of a short history: prices in millionths of a USDC, sizes in whole cNGN. */
export type Step =
  | { readonly kind: 'place'; readonly side: Side; readonly price: number; readonly size: number }
  /** The oldest open settlement succeeds. */
  | { readonly kind: 'settle' }
  /** The chain refuses the oldest open settlement for the fault of its taker. */
  | { readonly kind: 'fail' }

/** 2026-09-21T14:13:20Z: the time of the first change; each other one is a quarter of a second later. */
const FIRST_MS = 1_790_000_000_000

/** The changes that the matcher makes of these steps on the spot market. */
export function historyOf(steps: readonly Step[]): Change[] {
  const state = openedState()
  const changes: Change[] = []
  const unsettled: string[] = []
  let placed = 0
  const commandOf = (step: Step): Command => {
    if (step.kind === 'place') {
      placed += 1
      return {
        kind: 'PlaceOrder',
        order: sampleOrder(placed, step.side, step.price, step.size),
      }
    }
    return {
      kind: 'SettlementReported',
      settlementId: unsettled.shift() ?? 'none',
      outcome:
        step.kind === 'settle'
          ? { kind: 'success', txHash: `0x${'1'.repeat(64)}`, blockNumber: 7n }
          : { kind: 'reverted', revert: 'TM_PriceTooLow', guilty: 'taker' },
    }
  }
  for (const [index, step] of steps.entries()) {
    const logged = { source: 'test', sourceNo: index + 1, atMs: FIRST_MS, command: commandOf(step) }
    for (const change of applyCommand(state, logged).changes) {
      if (change.kind === 'OrderMatched') unsettled.push(change.match.settlementId)
      changes.push({ ...change, atMs: FIRST_MS + changes.length * 250 })
    }
  }
  return changes
}

/** A placed order like many others; `number` makes its ids unique. */
export function sampleOrder(number: number, side: Side, price: number, size: number): Order {
  const owner = `0x${(number % 10).toString().repeat(40)}` as const
  return anOrder({
    orderId: `order-${number}`,
    owner,
    subaccountId: BigInt(number % 10) + 1n,
    nonce: BigInt(number),
    side,
    desiredAmount: amountE18(BigInt(size) * E18),
    limitPrice: priceE18(BigInt(price) * 10n ** 12n),
    worstFee: feePerUnitE18(E18),
  })
}

/**
 * A history in which every round rests an order at the best price, hits it and settles the match: five changes, the
 * last of which completes a trade. Every second round leaves something in the book.
 */
export function busyHistory(rounds: number): Change[] {
  return historyOf(
    Array.from({ length: rounds }).flatMap((_, round) => [
      { kind: 'place', side: 'sell', price: 10_000 - round, size: 2 + (round % 2) } as const,
      { kind: 'place', side: 'buy', price: 10_000 - round, size: 2 } as const,
      { kind: 'settle' } as const,
    ]),
  )
}
