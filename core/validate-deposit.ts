import type { Action, Address, Hex } from './action.js'
import { firstBroken } from './checked.js'
import type { Checked } from './checked.js'
import { MIN_DEPOSIT_UNITS_6, UINT256_MAX } from './limits.js'
import { tokenUnits6 } from './money.js'
import type { TokenUnits6 } from './money.js'
import { readPermit } from './read-permit.js'
import type { Permit } from './read-permit.js'
import type { TransferBody } from './read-transfer-body.js'
import { refusals } from './refusals.js'
import { isSignatureText } from './signature-text.js'
import { decodeDepositData } from './transfer-data.js'
import type { DepositData } from './transfer-data.js'
import {
  belowMinDeposit,
  notDepositable,
  transferDataForm,
  transferRefusals,
  wrongManager,
} from './transfer-refusals.js'
import { refuseAction } from './validate-transfer.js'

/** What a deposit must name, and when it is judged. */
export interface DepositRules {
  readonly depositModule: Address
  readonly cashAsset: Address
  readonly perpManager: Address
  /** Unix milliseconds: the later of our clock and the chain's. */
  readonly nowMs: number
}

/** A deposit that passed every check that its body alone can fail. */
export interface ValidDeposit {
  readonly action: Action
  readonly signature: Hex
  readonly amount: TokenUnits6
  readonly asset: Address
  /** Counts only when the action opens an account. */
  readonly managerForNewAccount: Address
  readonly permit?: Permit
}

/** Checks the shape of a deposit, in the order in which the interface lists it; the first failure answers. Pure. */
export function validateDeposit(body: TransferBody, rules: DepositRules): Checked<ValidDeposit> {
  const { action, signature } = body
  const { depositModule: module, nowMs } = rules
  const wrongAction = refuseAction(action, { kind: 'deposit', module, nowMs })
  if (wrongAction !== undefined) return { refusal: wrongAction }
  const data = decodeDepositData(action.data)
  if (data === undefined) return { refusal: transferDataForm('deposit') }
  const wrongData = refuseData(action, data, rules)
  if (wrongData !== undefined) return { refusal: wrongData }
  if (!isSignatureText(signature)) return { refusal: refusals.signatureForm }
  const permit = body.permit === undefined ? undefined : readPermit(body.permit)
  if (permit !== undefined && 'refusal' in permit) return permit
  const { asset, managerForNewAccount } = data
  const amount = tokenUnits6(data.amount)
  return { action, signature, amount, asset, managerForNewAccount, ...(permit && { permit }) }
}

function refuseData(action: Action, data: DepositData, { cashAsset, perpManager }: DepositRules) {
  const { amount, asset, managerForNewAccount } = data
  const minimum = tokenUnits6(MIN_DEPOSIT_UNITS_6)
  const opens = action.subaccountId === 0n
  return firstBroken([
    [asset === cashAsset, notDepositable(asset, cashAsset)],
    [amount !== UINT256_MAX, transferRefusals.amountSentinel],
    [amount >= minimum, belowMinDeposit(tokenUnits6(amount), minimum)],
    [!opens || managerForNewAccount === perpManager, wrongManager(perpManager)],
  ])
}
