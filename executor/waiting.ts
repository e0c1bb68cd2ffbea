import type { OpenTransaction } from '../chain/transaction-journal.js'
import type { Settlement } from './settlement.js'

/** What became of a settlement that was not known before. `unavailable`: not sent yet, ask again. */
export type Submission =
  | { readonly kind: 'sent'; readonly transaction: OpenTransaction }
  | { readonly kind: 'refused'; readonly revert: string }
  | { readonly kind: 'unavailable'; readonly why: string }

/** A settlement that waits to be sent; answered once, what comes later changes nothing. */
export interface Waiting {
  readonly settlement: Settlement
  readonly resolve: (submission: Submission) => void
  readonly reject: (error: Error) => void
  /** It is not looked at again before the chain has mined this nonce. */
  waitsFor?: number
  /** How often it was told to wait. */
  deferrals: number
}
