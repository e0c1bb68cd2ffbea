import {
  createTransferClient,
  randomNonce,
  signDeposit,
  signPermit,
  signWithdrawal,
} from '../../client/index.js'
import type { OwnState } from '../state/own-state.js'
import type { Terminal } from '../state/terminal.js'

/** What became of a transfer. */
export interface TransferOutcome {
  readonly status: string
  readonly hash: string | undefined
}

export interface DepositAsked {
  /** Plain decimal text with at most six decimals, in USDC. */
  readonly amount: string
  /** The margin account to top up; undefined: a new one is opened. */
  readonly subaccountId: string | undefined
}

export interface WithdrawalAsked {
  /** Plain decimal text with at most six decimals, in the token. */
  readonly amount: string
  readonly subaccountId: string
  /** The asset that is held, not the token that it pays out. */
  readonly asset: string
}

const FIVE_MINUTES = 300

/**
 * USDC of the owner's wallet into a margin account, with a permit in the same request: two signatures, and the venue pays the gas. Throws as
 * the transfer client does.
 */
export async function deposit(
  { base, facts, domain, nowSec }: Terminal,
  { trader }: OwnState,
  { amount, subaccountId }: DepositAsked,
): Promise<TransferOutcome> {
  const transfers = createTransferClient(base)
  const address = (name: string) => facts.contracts[name] as `0x${string}`
  const signer = trader.moneySigner
  const tokenNonce = await transfers.permitNonce(trader.owner)
  const expirySec = nowSec.value + FIVE_MINUTES
  const modules = { depositModule: address('deposit_module'), amount }
  const permit = await signPermit(signer, {
    ...modules,
    ...{ chainId: domain.chainId, usdc: address('usdc'), tokenNonce, deadlineSec: expirySec },
  })
  const body = await signDeposit(signer, domain, {
    ...modules,
    ...{ cashAsset: address('cash_asset'), perpManager: address('perp_manager') },
    ...{ nonce: randomNonce(), expirySec, permit },
    ...(subaccountId !== undefined && { subaccountId }),
  })
  const { action_hash } = await transfers.deposit(body)
  const { status, tx_hash } = await transfers.settledDeposit(action_hash)
  return { status, hash: tx_hash }
}

/** A token out of an account to its owner: one signature, and the venue pays the gas. Throws as the transfer client does. */
export async function withdraw(
  { base, facts, domain, nowSec }: Terminal,
  { trader }: OwnState,
  { amount, subaccountId, asset }: WithdrawalAsked,
): Promise<TransferOutcome> {
  const transfers = createTransferClient(base)
  const body = await signWithdrawal(trader.moneySigner, domain, {
    withdrawalModule: facts.contracts.withdrawal_module as `0x${string}`,
    ...{ asset: asset as `0x${string}`, subaccountId, amount },
    ...{ nonce: randomNonce(), expirySec: nowSec.value + FIVE_MINUTES },
  })
  const { action_hash } = await transfers.withdraw(body)
  const { status, tx_hash } = await transfers.settledWithdrawal(action_hash)
  return { status, hash: tx_hash }
}
