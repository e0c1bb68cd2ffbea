import type { Address } from '../action.js'
import { formatDecimal } from '../decimal.js'
import type { TokenUnits6 } from '../money.js'
import type { GasPause, TransferKind } from '../transfer.js'
import { badRequest, notInCustody, refusals, refuse, type Refusal } from './refusals.js'

/** A refusal of a deposit or withdrawal. Nothing was submitted, except where the text states that the outcome is unknown. */
export interface TransferRefusal extends Omit<Refusal, 'decided'> {
  /** The revert as the chain or its simulation gave it; revertFields presents it. */
  readonly revert?: string
  /** The `Retry-After` header. */
  readonly retryAfterSec?: number
}

/** The names of the modules and of their calls' arguments, as texts and documents spell them. */
const MODULES = { deposit: 'the deposit module', withdrawal: 'the withdrawal module' } as const
const DATA_FORMS = {
  deposit:
    'abi.encode(uint256 amount, address asset, address managerForNewAccount): exactly 96 bytes',
  withdrawal: 'abi.encode(address asset, uint256 amount): exactly 64 bytes',
} as const

/** Refusals whose text is fixed; those of one kind only are named after it. */
export const transferRefusals = {
  actionExpired: badRequest('action_expired', 'action has expired; sign a fresh one', {
    field: 'action.expiry',
  }),
  actionExpiryTooFar: badRequest(
    'action_expiry_too_far',
    'action.expiry may be at most one hour ahead',
    { field: 'action.expiry' },
  ),
  amountSentinel: badRequest(
    'amount_not_explicit',
    'amount must be explicit; the max sentinel (deposit the whole balance) is not accepted',
    { field: 'action.data.amount' },
  ),
  withdrawalAmountZero: badRequest(
    'amount_not_positive',
    'withdrawal amount must be greater than 0',
    { field: 'action.data.amount' },
  ),
  withdrawalSubaccountZero: badRequest('subaccount_zero', 'action.subaccount_id must not be 0', {
    field: 'action.subaccount_id',
  }),
  permitSignatureForm: badRequest(
    'invalid_permit_signature_form',
    'permit.signature must be 0x-prefixed hex of at most 4096 bytes',
    { field: 'permit.signature' },
  ),
  permitExpired: badRequest('permit_expired', 'permit has expired', { field: 'permit.deadline' }),
  actionHashForm: badRequest(
    'invalid_action_hash',
    'action_hash must be 0x followed by 64 hex digits',
    { field: 'action_hash' },
  ),
  /** Add the detail that an order's refusal has: digest, domain, recovered, expected. */
  signature: { ...refusals.signature, status: 401 },
} as const satisfies Record<string, TransferRefusal>

/** A field that is not one of the request's, or not of its JSON type; the text is the interface's for any such body. */
export const notInBody = (field: string): TransferRefusal => ({
  ...refusals.invalidJsonBody,
  field,
})

/** Shape: checks of the body alone. */
export const wrongTransferModule = (kind: TransferKind, module: Address): TransferRefusal =>
  badRequest('wrong_module', `action.module must be ${MODULES[kind]} ${module}`, {
    field: 'action.module',
    detail: { expected: module },
  })

export const signerNotOwner = (kind: TransferKind): TransferRefusal =>
  badRequest(
    'signer_not_owner',
    `action.signer must be action.owner; session-key ${kind}s are not supported`,
    { field: 'action.signer' },
  )

export const transferDataForm = (kind: TransferKind): TransferRefusal =>
  badRequest('invalid_action_data', `action.data must be ${DATA_FORMS[kind]}`, {
    field: 'action.data',
  })

export const notDepositable = (asset: Address, cashAsset: Address): TransferRefusal =>
  badRequest(
    'asset_not_depositable',
    `asset ${asset} is not depositable; only the perp cash asset is`,
    { field: 'action.data.asset', detail: { expected: cashAsset } },
  )

export const notWithdrawable = (asset: Address, assets: readonly Address[]): TransferRefusal =>
  badRequest('asset_not_withdrawable', `asset ${asset} is not withdrawable`, {
    field: 'action.data.asset',
    detail: { withdrawable: assets },
  })

export const belowMinDeposit = (amount: TokenUnits6, minimum: TokenUnits6): TransferRefusal =>
  badRequest(
    'deposit_below_minimum',
    `amount ${formatDecimal(amount, 6)} USDC is below the minimum ${formatDecimal(minimum, 6)} USDC`,
    { field: 'action.data.amount' },
  )

export const wrongManager = (perpManager: Address): TransferRefusal =>
  badRequest(
    'wrong_manager',
    `a new account must be opened under the perp risk manager ${perpManager}`,
    { field: 'action.data.managerForNewAccount', detail: { expected: perpManager } },
  )

/** Limits. */
export const transferInProgress = (kind: TransferKind): TransferRefusal =>
  refuse(429)(
    `${kind}_in_progress`,
    `another ${kind} of action.owner is in progress: wait until it is settled`,
  )

export const tooManyAMinute = (
  kind: TransferKind,
  limit: number,
  retryAfterSec: number,
): TransferRefusal => ({
  ...refuse(429)(`too_many_${kind}_requests`, `at most ${limit} ${kind} requests a minute`),
  retryAfterSec,
})

export const tooManyDepositsAnHour = (limit: number, retryAfterSec: number): TransferRefusal => ({
  ...refuse(429)('too_many_deposits', `at most ${limit} submitted deposits an hour`),
  retryAfterSec,
})

/** Checks against the chain, before anything is sent. */
export const nonceSpent = (kind: TransferKind): TransferRefusal =>
  badRequest(
    'nonce_spent',
    `action.nonce is already used with ${MODULES[kind]}; sign a new action with a fresh nonce`,
    { field: 'action.nonce' },
  )

/** An order's refusal, of the field that a transfer signs. */
export const transferNotInCustody = (subaccountId: bigint): TransferRefusal => ({
  ...notInCustody(subaccountId),
  field: 'action.subaccount_id',
})

/** 400 on a deposit into another owner's account, 403 on a withdrawal from one. */
export const notTransferOwner = (kind: TransferKind, subaccountId: bigint): TransferRefusal =>
  refuse(kind === 'deposit' ? 400 : 403)(
    'subaccount_not_owned',
    `subaccount_id ${subaccountId} is not owned by action.owner`,
    { field: 'action.subaccount_id' },
  )

export const notPerpAccount = (subaccountId: bigint, perpManager: Address): TransferRefusal =>
  badRequest(
    'not_a_perp_account',
    `subaccount_id ${subaccountId} is not a perp account; top up one under the perp risk manager ` +
      `${perpManager}, or send subaccount_id 0 to open one`,
    { field: 'action.subaccount_id' },
  )

export const balanceTooLow = (balance: TokenUnits6, amount: TokenUnits6): TransferRefusal =>
  badRequest(
    'insufficient_balance',
    `action.owner holds ${formatDecimal(balance, 6)} USDC, less than the deposit of ` +
      `${formatDecimal(amount, 6)} USDC; fund the wallet first`,
    { field: 'action.owner' },
  )

export const allowanceTooLow = (allowance: TokenUnits6, amount: TokenUnits6): TransferRefusal =>
  badRequest(
    'insufficient_allowance',
    `the deposit module may take ${formatDecimal(allowance, 6)} USDC of action.owner, less than ` +
      `the deposit of ${formatDecimal(amount, 6)} USDC; approve it first or send a permit`,
    { field: 'permit' },
  )

/** Both in the token's units, as the permit carries them. */
export const permitTooSmall = (value: bigint, amount: TokenUnits6): TransferRefusal =>
  badRequest('permit_too_small', `permit.value ${value} is below the deposit amount ${amount}`, {
    field: 'permit.value',
  })

/** `revert` is the token's; absent when the venue has sent this permit before. */
export const permitRefused = (revert?: string): TransferRefusal => ({
  ...badRequest(
    'permit_refused',
    `USDC refuses the permit (${revert ?? 'already used'}); sign a fresh one`,
    { field: 'permit' },
  ),
  ...(revert !== undefined && { revert }),
})

/** 422: it would revert for a reason that the earlier checks do not cover. */
export const wouldRevert = (kind: TransferKind, revert: string): TransferRefusal => ({
  ...refuse(422)(`${kind}_would_revert`, `the ${kind} would revert on chain: ${revert}`),
  revert,
})

/** A record that was rejected meanwhile: 422 when the chain's revert did it. The same request is judged anew. */
export const transferRejected = (
  kind: TransferKind,
  error: string,
  revert: string | undefined,
): TransferRefusal => ({
  ...refuse(revert === undefined ? 503 : 422)(
    `${kind}_rejected`,
    `the ${kind} was rejected before anything was sent: ${error}`,
  ),
  ...(revert !== undefined && { revert }),
})

/** Money fails closed: what could not be read refuses. */
export const chainUnreadable = (kind: TransferKind): TransferRefusal =>
  refuse(503)(
    'chain_unreadable',
    `the chain cannot be asked about this ${kind} now: nothing was submitted, retry shortly`,
  )

const PAUSES: Readonly<Record<GasPause, string>> = {
  gas_reserve: "the venue's gas wallet is below its reserve",
  gas_budget: "this hour's sponsored gas budget is spent",
}

export const transfersPaused = (kind: TransferKind, pause: GasPause): TransferRefusal =>
  refuse(503)(`${kind}s_paused_${pause}`, `${kind}s are paused: ${PAUSES[pause]}`)

/** The deployment has no key, or no contracts, for transfers of this kind. */
export const transfersOff = (kind: TransferKind): TransferRefusal =>
  refuse(503)(`${kind}s_off`, `${kind}s are off on this deployment`)

/** The venue's own parts are not there, so nothing was passed on. */
export const transfersUnavailable = (kind: TransferKind): TransferRefusal =>
  refuse(503)(
    `${kind}s_unavailable`,
    `${kind}s are not available now: nothing was submitted, retry shortly`,
  )

const BEFORE_ANOTHER = {
  deposit: 'look it up by action_hash or resend the same request before signing a new one',
  withdrawal: 'resend the same request or check the balance before signing a new one',
} as const

export const transferUnknown = (kind: TransferKind): TransferRefusal =>
  refuse(502)(
    `${kind}_unknown`,
    `could not confirm whether the ${kind} was submitted: ${BEFORE_ANOTHER[kind]}`,
  )

/** Of a lookup, which changes nothing. */
export const transferRecordUnreadable = (kind: TransferKind): TransferRefusal =>
  refuse(503)(
    `${kind}_record_unreadable`,
    `the record of this ${kind} cannot be read now: retry shortly`,
  )

export const transferNotFound = (kind: TransferKind): TransferRefusal =>
  refuse(404)(`${kind}_not_found`, `no ${kind} with this action_hash`)
