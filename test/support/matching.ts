import { applyCommand, type AppliedCommand } from '../../core/apply-command.js'
import { checkBook } from '../../core/check-book.js'
import type { Change } from '../../core/change.js'
import type { Command } from '../../core/command.js'
import { emptyMatcherState, type MatcherState } from '../../core/matcher-state.js'
import { amountE18, E18, feePerUnitE18, priceE18 } from '../../core/money.js'
import type { Order } from '../../core/order.js'
import { statementOf } from './builders.js'

/** Market time at which every test market begins: 2026-01-01T00:00:00Z. */
export const START_MS = 1_767_225_600_000

export type OrderFields = Partial<Order> & Pick<Order, 'orderId' | 'side'>

let nonces = 0n

/** An order that is valid in every respect the matcher looks at; amounts and prices as the fields say. */
export function matcherOrder(fields: OrderFields): Order {
  nonces += 1n
  const owner = fields.owner ?? `0x${'a'.repeat(40)}`
  const goodUntilSec = fields.goodUntilSec ?? START_MS / 1000 + 86_400
  const [subaccountId, nonce] = [fields.subaccountId ?? 1n, fields.nonce ?? nonces]
  return {
    market: 'cNGN-USDC',
    owner,
    subaccountId,
    nonce,
    desiredAmount: amountE18(10n * E18),
    initialFilled: amountE18(0n),
    limitPrice: priceE18(E18),
    worstFee: feePerUnitE18(10n ** 30n),
    goodUntilSec,
    signatureStatus: 'checked',
    statement: statementOf({ owner, subaccountId, nonce }),
    ...fields,
  }
}

/** A market's matcher for tests: numbers the commands, keeps the clock, checks every invariant after each step. */
export function testMatcher(takerFeeBps = 25) {
  const state: MatcherState = emptyMatcherState({ market: 'cNGN-USDC', ordinal: 1, takerFeeBps })
  let sourceNo = 0
  let nowMs = START_MS
  const changes: Change[] = []
  return {
    state,
    changes,
    nowMs: () => nowMs,
    advance: (ms: number) => (nowMs += ms),
    apply: (command: Command): AppliedCommand => {
      sourceNo += 1
      const applied = applyCommand(state, { source: 'test', sourceNo, atMs: nowMs, command })
      changes.push(...applied.changes)
      checkBook(state)
      return applied
    },
  }
}

export type TestMatcher = ReturnType<typeof testMatcher>
