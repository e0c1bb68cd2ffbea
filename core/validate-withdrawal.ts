import type { Action, Address, Hex } from './action.js'
import { firstBroken } from './checked.js'
import type { Checked } from './checked.js'
import { tokenUnits6 } from './money.js'
import type { TokenUnits6 } from './money.js'
import type { TransferBody } from './read-transfer-body.js'
import { refusals } from './refusals.js'
import { isSignatureText } from './signature-text.js'
import { decodeWithdrawalData } from './transfer-data.js'
import { notWithdrawable, transferDataForm, transferRefusals } from './transfer-refusals.js'
import { refuseAction } from './validate-transfer.js'

/** What a withdrawal must name, and when it is judged. */
export interface WithdrawalRules {
  readonly withdrawalModule: Address
  /** The assets that pay out: wrapped tokens, and cash where the deployment lists it. */
  readonly withdrawable: readonly Address[]
  /** Unix milliseconds: the later of our clock and the chain's. */
  readonly nowMs: number
}

/** A withdrawal that passed every check that its body alone can fail. */
export interface ValidWithdrawal {
  readonly action: Action
  readonly signature: Hex
  readonly asset: Address
  readonly amount: TokenUnits6
}

/** Checks the shape of a withdrawal, in the order in which the interface lists it; the first failure answers. Pure. */
export function validateWithdrawal(
  { action, signature }: TransferBody,
  { withdrawalModule: module, withdrawable, nowMs }: WithdrawalRules,
): Checked<ValidWithdrawal> {
  const wrongAction = refuseAction(action, {
    ...{ kind: 'withdrawal', module, nowMs },
    afterModule: [[action.subaccountId !== 0n, transferRefusals.withdrawalSubaccountZero]],
  })
  if (wrongAction !== undefined) return { refusal: wrongAction }
  const data = decodeWithdrawalData(action.data)
  if (data === undefined) return { refusal: transferDataForm('withdrawal') }
  const { asset, amount } = data
  const wrongData = firstBroken([
    [withdrawable.includes(asset), notWithdrawable(asset, withdrawable)],
    [amount > 0n, transferRefusals.withdrawalAmountZero],
  ])
  if (wrongData !== undefined) return { refusal: wrongData }
  if (!isSignatureText(signature)) return { refusal: refusals.signatureForm }
  return { action, signature, asset, amount: tokenUnits6(amount) }
}
