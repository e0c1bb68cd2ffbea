import { applyCommand, type AppliedCommand } from '../../core/engine/apply-command.js'
import { checkBook } from '../../core/engine/check-state.js'
import type { Change } from '../../core/model/change.js'
import type { Command } from '../../core/model/command.js'
import type { ContractType } from '../../core/model/market.js'
import type { Order } from '../../core/model/order.js'
import { amountE18, E18, feePerUnitE18, priceE18 } from '../../core/money.js'
import { openedState, signedTerms } from './builders.js'

/** Market time at which every test market begins: 2026-01-01T00:00:00Z. */
export const START_MS = 1_767_225_600_000

export type OrderFields = Partial<Order> & Pick<Order, 'orderId' | 'side'>

let nonces = 0n

/** An order that is valid in every respect the matcher looks at; amounts and prices as the fields say. */
export function matcherOrder(fields: OrderFields): Order {
  nonces += 1n
  const owner = fields.owner ?? `0x${'a'.repeat(40)}`
  const goodUntilSec = fields.goodUntilSec ?? START_MS / 1000 + 86_400
  const subaccountId = fields.subaccountId ?? 1n
  const nonce = fields.nonce ?? nonces
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
    ...signedTerms(owner, goodUntilSec),
    ...fields,
  }
}

/**
 * A market's matcher for tests, of the newest step: numbers the commands, keeps the clock, checks every invariant after each
 * step.
 */
export function testMatcher(takerFeeBps = 25, contractType: ContractType = 'spot') {
  const state = openedState({ ordinal: 1, contractType, takerFeeBps })
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
