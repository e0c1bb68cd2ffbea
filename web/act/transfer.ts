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
  VenueRefused,
} from '../../client/index.js'
import type { Terminal } from '../state/terminal.js'
import type { Trader } from '../state/trader.js'
import { contract, SIGNED_FOR_SEC, signFunding, type FundingStep } from '../wallet/open-account.js'

/** What became of a transfer. */
export interface TransferOutcome {
  readonly status: string
  readonly hash: string | undefined
  /** The account that a deposit was credited to. */
  readonly credited?: string | undefined
}

/** Whose money it is. */
interface OwnerKeys {
  readonly trader: Pick<Trader, 'owner' | 'moneySigner'>
}

export interface DepositRequest {
  /** Plain decimal text with at most six decimals, in USDC. */
  readonly amount: string
  /** The margin account to top up; undefined: a new one is opened. */
  readonly subaccountId: string | undefined
  readonly onStep?: (step: FundingStep) => void
}

export interface WithdrawalRequest {
  /** Plain decimal text with at most six decimals, in the token. */
  readonly amount: string
  readonly subaccountId: string
  /** The asset that is held, not the token that it pays out. */
  readonly asset: string
}

/** A transfer of this visit that has an outcome. */
export interface VisitTransfer extends TransferOutcome {
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
  /**
   * USDC of the owner's wallet into a margin account, with a permit in the same request: two signatures, and the venue pays the gas.
   * While a deposit that opens an account has no outcome, one into an account of the same amount is it, and no other opening is signed.
   */
  deposit(own: OwnerKeys, asked: DepositRequest): Promise<TransferOutcome>
  /** A token out of an account to its owner: one signature, and the venue pays the gas. */
  withdraw(own: OwnerKeys, asked: WithdrawalRequest): Promise<TransferOutcome>
  /** Those of this visit, newest first; the venue has no list of them. */
  readonly receipts: ReadonlySignal<readonly VisitTransfer[]>
}

const RECEIPTS_KEPT = 50

export function createTransfers(
  { base, facts, domain, nowSec }: Pick<Terminal, 'base' | 'facts' | 'domain' | 'nowSec'>,
  transfers: TransferClient = createTransferClient(base),
): Transfers {
  /** Transfers without an outcome, by what was asked. */
  const open = new Map<string, Open>()
  const receipts = signal<readonly VisitTransfer[]>([])
  async function once<Body extends { readonly action: ActionJson }>(
    wanted: TransferJob,
    { asset, sign, send, settled }: Way<Body>,
  ): Promise<TransferOutcome> {
    const before = unanswered(open, wanted, asset)
    const body = before === undefined ? await sign() : undefined
    const one = before ?? {
      asked: wanted,
      hash: transferHash(domain, body as Body),
      untilSec: nowSec.value + SIGNED_FOR_SEC,
    }
    const { asked, hash, untilSec } = one
    const key = keyOf(asked, asset)
    open.set(key, one)
    try {
      if (body !== undefined) await sentOnce(send, body)
      const { status, tx_hash, subaccount_id: credited } = await settled(hash)
      open.delete(key)
      const outcome = { status, hash: tx_hash }
      const token: VisitTransfer['token'] =
        asset !== undefined && asset === facts.contracts.wrapped_cngn ? 'cNGN' : 'USDC'
      const receipt = { ...asked, ...outcome, token, atSec: nowSec.value }
      receipts.value = [receipt, ...receipts.value].slice(0, RECEIPTS_KEPT)
      return { ...outcome, ...(asked.kind === 'deposit' && { credited }) }
    } catch (error) {
      if (error instanceof OutcomeUnknown) throw stillOpen(error)
      // A record that is not there yet is no outcome while what was signed can be taken.
      const isAbsent = error instanceof VenueRefused && error.code === `${asked.kind}_not_found`
      if (isAbsent && nowSec.value <= untilSec)
        throw stillOpen(new OutcomeUnknown(error.message, { cause: error }))
      open.delete(key)
      throw error
    }
  }
  async function sentOnce<Body>(send: (body: Body) => Promise<unknown>, body: Body): Promise<void> {
    try {
      await send(body)
    } catch (error) {
      // It may have been taken: its record says so.
      if (!(error instanceof OutcomeUnknown)) throw error
    }
  }
  return {
    receipts,
    deposit: ({ trader }, { amount, subaccountId, onStep = () => undefined }) =>
      once(
        { kind: 'deposit', owner: trader.owner, subaccountId, amount },
        {
          sign: () =>
            signFunding(trader.moneySigner, {
              facts,
              domain,
              transfers,
              amount,
              subaccountId,
              onStep,
              nowSec: () => nowSec.value,
            }),
          send: (body) => {
            onStep({ step: 'deposit', state: 'sent' })
            return transfers.deposit(body)
          },
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
              asset: asset as `0x${string}`,
              subaccountId,
              amount,
              nonce: randomNonce(),
              expirySec: nowSec.value + SIGNED_FOR_SEC,
            }),
          send: (body) => transfers.withdraw(body),
          settled: (hash) => transfers.settledWithdrawal(hash),
        },
      ),
  }
}

type TransferJob = Pick<VisitTransfer, 'kind' | 'owner' | 'subaccountId' | 'amount'>

/** A transfer that may have been taken. */
interface Open {
  readonly asked: TransferJob
  /** Of its action. */
  readonly hash: string
  /** Until then it can be taken. */
  readonly untilSec: number
}

const keyOf = (
  { kind, owner, subaccountId, amount }: TransferJob,
  asset: string | undefined,
): string =>
  kind === 'deposit' && subaccountId === undefined
    ? JSON.stringify([kind, owner])
    : JSON.stringify([kind, owner, subaccountId, asset, amount])

/** What was asked before and has no outcome. Throws OutcomeUnknown where an account is being opened with another amount. */
function unanswered(
  open: ReadonlyMap<string, Open>,
  asked: TransferJob,
  asset: string | undefined,
): Open | undefined {
  const { kind, amount, subaccountId } = asked
  const same = open.get(keyOf(asked, asset))
  if (kind === 'withdrawal') return same
  // The account that it opens may be listed by now.
  const opening = open.get(keyOf({ ...asked, subaccountId: undefined }, asset))
  if (opening?.asked.amount === amount) return opening
  if (opening === undefined || subaccountId !== undefined) return same
  throw new OutcomeUnknown(
    `A deposit of ${opening.asked.amount} USDC that opens an account has no outcome yet. Pay in ${opening.asked.amount} again to look it up.`,
  )
}

interface Way<Body> {
  /** Which of the tokens of an account; absent where there is one. */
  readonly asset?: string
  readonly sign: () => Promise<Body>
  readonly send: (body: Body) => Promise<unknown>
  readonly settled: (
    hash: string,
  ) => Promise<
    Pick<DepositRecord | WithdrawalRecord, 'status' | 'tx_hash'> &
      Partial<Pick<DepositRecord, 'subaccount_id'>>
  >
}

const stillOpen = (error: OutcomeUnknown): OutcomeUnknown =>
  new OutcomeUnknown(
    `No outcome yet: ${error.message}. Press again to look it up: the same transfer is not signed twice.`,
    { cause: error },
  )
