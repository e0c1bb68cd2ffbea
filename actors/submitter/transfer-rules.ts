import type { CalledContracts } from '../../chain/check-deployment.js'
import type { Action, Address, Hex } from '../../core/action.js'
import type { TokenUnits6 } from '../../core/money.js'
import type { TransferBody } from '../../core/read-transfer-body.js'
import type { TransferRefusal } from '../../core/transfer-refusals.js'
import type { TransferKind } from '../../core/transfer.js'

/** What every transfer is once its body passed the checks of its form. */
export interface SignedTransfer {
  readonly action: Action
  readonly signature: Hex
  readonly asset: Address
  readonly amount: TokenUnits6
}

/** A call that may have to be mined before the transfer can be carried out: a deposit's permit. */
export interface Preparation {
  readonly intentId: string
  readonly to: Address
  readonly data: Hex
  /** What is answered when it is refused. */
  readonly refusalOf: (revert: string) => TransferRefusal
}

/** Whether a preparation must go before the transfer as the chain stands now, or why that cannot be. */
export type Need = 'nothing' | 'preparation' | { readonly refusal: TransferRefusal }

/** Where deposits and withdrawals differ. What asks the chain rejects with ChainUnreachable. */
export interface TransferRules<Transfer extends SignedTransfer> {
  readonly kind: TransferKind
  /** The module that spends the action's nonce. */
  readonly module: Address
  /** What transfers of this kind call or move beside matching, by the names of the deployment. */
  readonly contracts: Omit<CalledContracts, 'matching'>
  /** What the form of the request says against it. */
  readonly validate: (
    body: TransferBody,
    nowMs: number,
  ) => Transfer | { readonly refusal: TransferRefusal }
  /** What the chain says against it now, with advice; undefined when nothing. */
  readonly preCheck: (transfer: Transfer) => Promise<TransferRefusal | undefined>
  /** The preparation that the request brings; undefined when it brings none. */
  readonly preparation: (transfer: Transfer) => Preparation | undefined
  readonly need: (transfer: Transfer) => Promise<Need>
  /** Whether a revert means that a check of the chain's state was overtaken, and so has the advice of that check. */
  readonly isRace: (revert: string) => boolean
  /** The name under which callers know a revert. */
  readonly revertName: (asset: Address, revert: string) => string
  readonly perMinute: number
  /** Most submitted in an hour; unlimited when absent. */
  readonly perHour?: number
}
