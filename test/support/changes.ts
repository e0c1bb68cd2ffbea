import type { Block, Change, ChangeBase, ChangeFacts } from '../../core/model/change.js'
import type { Order } from '../../core/model/order.js'
import { amountE18 } from '../../core/money.js'

/** Market time of a hand-made change: its seq in seconds after this. */
export const CHANGES_START_MS = 1_767_225_600_000

/** What a hand-made change may say of where its order stands; amounts are whole units. */
export interface Stand {
  readonly filled?: bigint
  readonly pending?: bigint
  readonly open?: bigint
  readonly status?: ChangeBase['status']
  readonly atMs?: number
}

const E18 = 10n ** 18n

/** A change of an order, written by hand: `seq` counts seconds of market time unless `atMs` is given. */
export function aChange(seq: number, order: Order, facts: ChangeFacts, stand: Stand = {}): Change {
  return {
    seq,
    atMs: stand.atMs ?? CHANGES_START_MS + seq * 1000,
    orderId: order.orderId,
    owner: order.owner,
    side: order.side,
    limitPrice: order.limitPrice,
    desired: order.desiredAmount,
    filled: amountE18((stand.filled ?? 0n) * E18),
    pending: amountE18((stand.pending ?? 0n) * E18),
    open: amountE18((stand.open ?? 0n) * E18),
    openDelta: 0n,
    status: stand.status ?? 'active',
    ...facts,
  }
}

/** These changes as one block. */
export function aBlock(market: string, changes: readonly Change[]): Block {
  const firstSeq = changes[0]?.seq ?? 1
  return { market, commandSeq: firstSeq, commandIndex: 0, firstSeq, changes }
}
