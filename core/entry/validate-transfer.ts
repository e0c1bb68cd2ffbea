import type { Action, Address, Hex } from '../action.js'
import { parseInteger } from '../decimal.js'
import { asJsonObject, fieldOf } from '../json.js'
import { MAX_TRANSFER_AHEAD_SEC, MIN_DEPOSIT_UNITS_6, UINT256_MAX } from '../limits.js'
import { tokenUnits6, type TokenUnits6 } from '../money.js'
import type { TransferKind } from '../transfer.js'
import {
  decodeDepositData,
  decodeWithdrawalData,
  isHexText,
  type DepositData,
  isSignatureText,
  actionFields,
  readActionFields,
  type ReadAction,
} from './read-action.js'
import {
  type OrRefusal,
  fieldRequired,
  invalidInteger,
  refusals,
  type Refusal,
} from './refusals.js'
import {
  belowMinDeposit,
  notDepositable,
  notInBody,
  notWithdrawable,
  permitTooSmall,
  signerNotOwner,
  transferDataForm,
  transferRefusals,
  wrongManager,
  wrongTransferModule,
  type TransferRefusal,
} from './transfer-refusals.js'

/** What an action of either kind is judged by before its data is read. */
export interface ActionRules {
  readonly kind: TransferKind
  readonly module: Address
  /** Unix milliseconds: the later of our clock and the chain's, so that an action is not sent only to expire. */
  readonly nowMs: number
  /** Rules of the kind that come after the module's. */
  readonly afterModule?: readonly TransferRule[]
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

/** A request whose action can be hashed; everything else about it is still to be judged. */
export interface TransferBody extends ReadAction {
  /** Any text. */
  readonly signature: string
  /** Of deposits only; as it came, undefined when absent. */
  readonly permit: unknown
}

const bodyFields = {
  deposit: ['action', 'signature', 'permit'],
  withdrawal: ['action', 'signature'],
} as const satisfies Record<TransferKind, readonly string[]>

/**
 * Reads the body of `POST /v1/deposits` or `POST /v1/withdrawals`. Strict: fields that are not the request's are
 * refused, because the client expects them to have an effect.
 */
export function readTransferBody(kind: TransferKind, body: unknown): OrRefusal<TransferBody> {
  const fields = asJsonObject(body)
  if (fields === undefined) return { refusal: refusals.invalidJsonBody }
  const strange = strangeField(fields, bodyFields[kind], '')
  if (strange !== undefined) return { refusal: strange }
  const missing = ['action', 'signature'].find((name) => fieldOf(fields, name) === undefined)
  if (missing !== undefined) return { refusal: fieldRequired(missing) }

  const { signature } = fields
  const actionJson = asJsonObject(fields.action)
  if (actionJson === undefined) return { refusal: notInBody('action') }
  if (typeof signature !== 'string') return { refusal: notInBody('signature') }
  const strangeInAction = strangeField(actionJson, actionFields, 'action.')
  if (strangeInAction !== undefined) return { refusal: strangeInAction }
  const dataForm = transferDataForm(kind)
  const read = readActionFields(actionJson, { path: 'action', dataNotText: dataForm })
  if ('refusal' in read) return read
  // Data of whole bytes can be hashed, whatever the number of its words.
  const { data } = read.action
  if (data.length % 2 !== 0 || !isHexText(data)) return { refusal: dataForm }
  return { ...read, signature, permit: fieldOf(fields, 'permit') }
}

/** The refusal of the first field that is not one of the known ones. */
export function strangeField(
  fields: Readonly<Record<string, unknown>>,
  known: readonly string[],
  path: string,
): TransferRefusal | undefined {
  const strange = Object.keys(fields).find((name) => !known.includes(name))
  return strange === undefined ? undefined : notInBody(`${path}${strange}`.slice(0, MAX_FIELD))
}

const MAX_FIELD = 80

/** An EIP-2612 permit on USDC from the owner to the deposit module. */
export interface SignedPermit {
  /** In the token's units; any uint256. */
  readonly value: bigint
  /** Unix seconds; any uint256. */
  readonly deadline: bigint
  readonly signature: Hex
}

const permitFields = ['value', 'deadline', 'signature'] as const

/** Reads the `permit` of a deposit in its form alone. */
export function readPermit(sent: unknown): OrRefusal<SignedPermit> {
  const fields = asJsonObject(sent)
  if (fields === undefined) return { refusal: notInBody('permit') }
  const strange = strangeField(fields, permitFields, 'permit.')
  if (strange !== undefined) return { refusal: strange }
  const missing = permitFields.find((name) => fieldOf(fields, name) === undefined)
  if (missing !== undefined) return { refusal: fieldRequired(`permit.${missing}`) }
  const value = parseInteger(fields.value)
  if (value === undefined) return { refusal: invalidInteger('permit.value', fields.value) }
  const deadline = parseInteger(fields.deadline)
  if (deadline === undefined) return { refusal: invalidInteger('permit.deadline', fields.deadline) }
  const { signature } = fields
  if (!isSignatureText(signature)) return { refusal: transferRefusals.permitSignatureForm }
  return { value, deadline, signature }
}

/** Why a well-formed permit cannot cover the deposit; to be asked only when the allowance does not. */
export function refusePermit(
  { value, deadline }: SignedPermit,
  amount: TokenUnits6,
  nowMs: number,
): TransferRefusal | undefined {
  if (value < amount) return permitTooSmall(value, amount)
  // The token accepts a permit in a block whose time is its deadline; that block is at least a second away.
  return deadline * 1000n <= BigInt(Math.floor(nowMs)) ? transferRefusals.permitExpired : undefined
}

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
  readonly permit?: SignedPermit
}

/** Checks the shape of a deposit, in the order in which the interface lists it; the first failure answers. Pure. */
export function validateDeposit(body: TransferBody, rules: DepositRules): OrRefusal<ValidDeposit> {
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
): OrRefusal<ValidWithdrawal> {
  const wrongAction = refuseAction(action, {
    kind: 'withdrawal',
    module,
    nowMs,
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

/** A fact that must hold, and the refusal when it does not. */
export type TransferRule = readonly [holds: boolean, otherwise: Refusal]

/** The refusal of the first rule that does not hold; the order of the rules is their precedence. */
export function firstBroken(rules: readonly TransferRule[]): Refusal | undefined {
  return rules.find(([holds]) => !holds)?.[1]
}
