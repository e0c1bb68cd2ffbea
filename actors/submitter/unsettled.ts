import type { Hex } from '../../core/action.js'
import type { TransferKind } from '../../core/transfer.js'
import type { TransferStore } from '../../data/transfer-store.js'
import type { BackOff } from './back-off.js'
import { actionHashOf, intentOf } from './transactions.js'
import type { Transactions } from './transactions.js'

export interface UnsettledDeps {
  readonly kind: TransferKind
  readonly store: Pick<TransferStore, 'unsettled' | 'find'>
  readonly transactions: Pick<Transactions, 'unsettledIntents' | 'stateOf'>
}

/** The actions whose records may differ from what the chain says; one may be named twice. */
export function unsettledHashes({ kind, store, transactions }: UnsettledDeps): Hex[] {
  const signed = transactions.unsettledIntents().map((intentId) => actionHashOf(kind, intentId))
  const recorded = store.unsettled().map(({ record }) => record.actionHash)
  return [...recorded, ...signed.filter((hash) => hash !== undefined)]
}

/**
 * The same without those that somebody else carried out and that are not due: nothing but a lost block changes what the
 * chain says of them, and they stay unsettled for ever.
 */
export function dueHashes(deps: UnsettledDeps, backOff: BackOff): Hex[] {
  const { kind, store, transactions } = deps
  const carriedOutElsewhere = (hash: Hex): boolean =>
    transactions.stateOf(intentOf(kind, hash))?.kind === 'displaced' &&
    store.find(hash)?.record.status === 'unknown'
  return unsettledHashes(deps).filter((hash) => !carriedOutElsewhere(hash) || backOff.isDue(hash))
}
