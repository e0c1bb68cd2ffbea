import {
  createTransferClient,
  OutcomeUnknown,
  randomNonce,
  signWithdrawal,
  transferHash,
  type ActionJson,
  type DepositRecord,
  type TransferClient,
  type WithdrawalRecord,
} from '../../client/index.js'
import type { OwnState } from '../state/own-state.js'
import type { Terminal } from '../state/terminal.js'
import { contract, SIGNED_FOR_SEC, signFunding } from '../wallet/open-account.js'

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

/**
 * Money in and out. Both throw as the transfer client does, BadOrderTerms for an amount that is none, and OutcomeUnknown while no
 * answer says what became of it: the same asked again looks the same transfer up, and signs no other.
 */
export interface Transfers {
  /** USDC of the owner's wallet into a margin account, with a permit in the same request: two signatures, and the venue pays the gas. */
  deposit(own: OwnState, asked: DepositAsked): Promise<TransferOutcome>
  /** A token out of an account to its owner: one signature, and the venue pays the gas. */
  withdraw(own: OwnState, asked: WithdrawalAsked): Promise<TransferOutcome>
}

export function createTransfers(
  { base, facts, domain, nowSec }: Pick<Terminal, 'base' | 'facts' | 'domain' | 'nowSec'>,
  transfers: TransferClient = createTransferClient(base),
): Transfers {
  /** Action hashes of transfers without an outcome, by what was asked. */
  const open = new Map<string, string>()
  async function once<Body extends { readonly action: ActionJson }>(
    asked: readonly (string | undefined)[],
    { sign, send, settled }: Way<Body>,
  ): Promise<TransferOutcome> {
    const key = JSON.stringify(asked)
    const before = open.get(key)
    const hash = before ?? (await sent(sign, send))
    open.set(key, hash)
    try {
      const { status, tx_hash } = await settled(hash)
      open.delete(key)
      return { status, hash: tx_hash }
    } catch (error) {
      if (error instanceof OutcomeUnknown) throw stillOpen(error)
      open.delete(key)
      throw error
    }
  }
  async function sent<Body extends { readonly action: ActionJson }>(
    sign: Way<Body>['sign'],
    send: Way<Body>['send'],
  ): Promise<string> {
    const body = await sign()
    try {
      await send(body)
    } catch (error) {
      // It may have been taken: its record says so.
      if (!(error instanceof OutcomeUnknown)) throw error
    }
    return transferHash(domain, body)
  }
  return {
    deposit: ({ trader }, { amount, subaccountId }) =>
      once(['deposit', trader.owner, subaccountId, amount], {
        sign: () =>
          signFunding(trader.moneySigner, {
            ...{ facts, domain, transfers, amount, subaccountId, nowSec: () => nowSec.value },
          }),
        send: (body) => transfers.deposit(body),
        settled: (hash) => transfers.settledDeposit(hash),
      }),
    withdraw: ({ trader }, { amount, subaccountId, asset }) =>
      once(['withdraw', trader.owner, subaccountId, asset, amount], {
        sign: () =>
          signWithdrawal(trader.moneySigner, domain, {
            withdrawalModule: contract(facts, 'withdrawal_module'),
            ...{ asset: asset as `0x${string}`, subaccountId, amount },
            ...{ nonce: randomNonce(), expirySec: nowSec.value + SIGNED_FOR_SEC },
          }),
        send: (body) => transfers.withdraw(body),
        settled: (hash) => transfers.settledWithdrawal(hash),
      }),
  }
}

interface Way<Body> {
  readonly sign: () => Promise<Body>
  readonly send: (body: Body) => Promise<unknown>
  readonly settled: (
    hash: string,
  ) => Promise<Pick<DepositRecord | WithdrawalRecord, 'status' | 'tx_hash'>>
}

const stillOpen = (error: OutcomeUnknown): OutcomeUnknown =>
  new OutcomeUnknown(
    `No outcome yet: ${error.message}. Press again to look it up: the same transfer is not signed twice.`,
    { cause: error },
  )
