import type { Action, Address } from './action.js'
import { firstBroken } from './checked.js'
import type { Rule } from './checked.js'
import { MAX_TRANSFER_AHEAD_SEC } from './limits.js'
import { signerNotOwner, transferRefusals, wrongTransferModule } from './transfer-refusals.js'
import type { TransferRefusal } from './transfer-refusals.js'
import type { TransferKind } from './transfer.js'

/** What an action of either kind is judged by before its data is read. */
export interface ActionRules {
  readonly kind: TransferKind
  readonly module: Address
  /** Unix milliseconds: the later of our clock and the chain's, so that an action is not sent only to expire. */
  readonly nowMs: number
  /** Rules of the kind that stand behind the module's. */
  readonly afterModule?: readonly Rule[]
}

/** The first rule of module, signer and expiry that an action breaks. Pure. */
export function refuseAction(action: Action, rules: ActionRules): TransferRefusal | undefined {
  const { kind, module, nowMs, afterModule = [] } = rules
  const now = BigInt(Math.floor(nowMs))
  const latest = now + BigInt(MAX_TRANSFER_AHEAD_SEC) * 1000n
  const expiryMs = action.expiry * 1000n
  return firstBroken([
    [action.module === module, wrongTransferModule(kind, module)],
    ...afterModule,
    [action.signer === action.owner, signerNotOwner(kind)],
    [expiryMs > now, transferRefusals.actionExpired],
    [expiryMs <= latest, transferRefusals.actionExpiryTooFar],
  ])
}
