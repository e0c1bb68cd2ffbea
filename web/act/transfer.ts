import { signal, type ReadonlySignal } from '@preact/signals'
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

/** A transfer of this visit that has an outcome. */
export interface TransferReceipt extends TransferOutcome {
  readonly kind: 'deposit' | 'withdrawal'
  readonly owner: string
  /** Undefined where a new account was opened. */
  readonly subaccountId: string | undefined
  /** Decimal text, in the token. */
  readonly amount: string
  readonly token: 'USDC' | 'cNGN'
  /** Unix seconds by the venue's clock. */
  readonly atSec: number
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
  /** Those of this visit, newest first; the venue has no list of them. */
  readonly receipts: ReadonlySignal<readonly TransferReceipt[]>
}

const RECEIPTS_KEPT = 50

export function createTransfers(
  { base, facts, domain, nowSec }: Pick<Terminal, 'base' | 'facts' | 'domain' | 'nowSec'>,
  transfers: TransferClient = createTransferClient(base),
): Transfers {
  /** Action hashes of transfers without an outcome, by what was asked. */
  const open = new Map<string, string>()
  const receipts = signal<readonly TransferReceipt[]>([])
  async function once<Body extends { readonly action: ActionJson }>(
    asked: Pick<TransferReceipt, 'kind' | 'owner' | 'subaccountId' | 'amount'>,
    { asset, sign, send, settled }: Way<Body>,
  ): Promise<TransferOutcome> {
    const { kind, owner, subaccountId, amount } = asked
    const key = JSON.stringify([kind, owner, subaccountId, asset, amount])
    const before = open.get(key)
    const hash = before ?? (await sent(sign, send))
    open.set(key, hash)
    try {
      const { status, tx_hash } = await settled(hash)
      open.delete(key)
      const outcome = { status, hash: tx_hash }
      const token: TransferReceipt['token'] =
        asset !== undefined && asset === facts.contracts.wrapped_cngn ? 'cNGN' : 'USDC'
      const receipt = { ...asked, ...outcome, token, atSec: nowSec.value }
      receipts.value = [receipt, ...receipts.value].slice(0, RECEIPTS_KEPT)
      return outcome
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
    receipts,
    deposit: ({ trader }, { amount, subaccountId }) =>
      once(
        { kind: 'deposit', owner: trader.owner, subaccountId, amount },
        {
          sign: () =>
            signFunding(trader.moneySigner, {
              ...{ facts, domain, transfers, amount, subaccountId, nowSec: () => nowSec.value },
            }),
          send: (body) => transfers.deposit(body),
          settled: (hash) => transfers.settledDeposit(hash),
        },
      ),
    withdraw: ({ trader }, { amount, subaccountId, asset }) =>
      once(
        { kind: 'withdrawal', owner: trader.owner, subaccountId, amount },
        {
          asset,
          sign: () =>
            signWithdrawal(trader.moneySigner, domain, {
              withdrawalModule: contract(facts, 'withdrawal_module'),
              ...{ asset: asset as `0x${string}`, subaccountId, amount },
              ...{ nonce: randomNonce(), expirySec: nowSec.value + SIGNED_FOR_SEC },
            }),
          send: (body) => transfers.withdraw(body),
          settled: (hash) => transfers.settledWithdrawal(hash),
        },
      ),
  }
}

interface Way<Body> {
  /** Which of the tokens of an account; absent where there is one. */
  readonly asset?: string
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
