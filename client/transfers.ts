import type {
  DepositReceipt,
  DepositRecord,
  NewDeposit,
  NewWithdrawal,
  PermitNonce,
  TransferStatus,
  WithdrawalReceipt,
  WithdrawalRecord,
} from '../interface/transfer.js'
import { jsonBody, OutcomeUnknown, pauseAfter, request, urlOf, type Query } from './request.js'

export interface TransferClientOptions {
  /** How long to wait for one answer; the venue waits for a receipt before it answers. */
  readonly timeoutMs?: number
  /** How often a request whose outcome is unknown is sent again. */
  readonly resends?: number
}

/** How long and how often to poll until a transfer is settled. */
export interface SettleOptions {
  readonly withinMs?: number
  readonly everyMs?: number
}

/**
 * The venue's deposits and withdrawals. Every method throws VenueRefused, when nothing was submitted, or
 * OutcomeUnknown; then look the transfer up by its transferHash before signing another one.
 */
export interface TransferClient {
  /**
   * Sends a signed deposit. Sends the same body again while the outcome is unknown, which is safe because the venue
   * submits an action once. Answers the receipt, or the record while it is being submitted.
   */
  deposit(body: NewDeposit): Promise<DepositReceipt | DepositRecord>
  /** The same for a withdrawal. */
  withdraw(body: NewWithdrawal): Promise<WithdrawalReceipt | WithdrawalRecord>
  /** The `tokenNonce` of the owner's next permit on USDC, for signPermit. */
  permitNonce(owner: string): Promise<bigint>
  depositRecord(actionHash: string): Promise<DepositRecord>
  withdrawalRecord(actionHash: string): Promise<WithdrawalRecord>
  /** Polls until the deposit is confirmed, reverted or rejected; throws OutcomeUnknown when time runs out. */
  settledDeposit(actionHash: string, options?: SettleOptions): Promise<DepositRecord>
  /** The same for a withdrawal. */
  settledWithdrawal(actionHash: string, options?: SettleOptions): Promise<WithdrawalRecord>
}

const TIMEOUT_MS = 20_000
const RESENDS = 2
const SETTLE_WITHIN_MS = 60_000
const LOOK_EVERY_MS = 1_000

/** A client of the venue at `baseUrl`, for example `http://127.0.0.1:8080`. */
export function createTransferClient(
  baseUrl: string,
  { timeoutMs = TIMEOUT_MS, resends = RESENDS }: TransferClientOptions = {},
): TransferClient {
  const signal = (): AbortSignal => AbortSignal.timeout(timeoutMs)
  const get = <T>(path: string, query: Query = {}): Promise<T> =>
    request<T>(urlOf(baseUrl, path, query), { signal: signal() })

  async function send<T>(path: string, body: object): Promise<T> {
    for (let sent = 0; ; sent++) {
      // A 503 means that this attempt submitted nothing; an earlier attempt without an answer may have.
      const leavesOpen = (status: number): boolean => status >= 500 && (status !== 503 || sent > 0)
      try {
        return await request<T>(
          urlOf(baseUrl, path),
          { ...jsonBody(body), signal: signal() },
          { leavesOpen },
        )
      } catch (error) {
        if (!(error instanceof OutcomeUnknown) || sent === resends) throw error
        await pauseAfter(error)
      }
    }
  }

  const depositRecord = (hash: string) => get<DepositRecord>(`/v1/deposits/${hash}`)
  const withdrawalRecord = (hash: string) => get<WithdrawalRecord>(`/v1/withdrawals/${hash}`)
  return {
    deposit: (body) => send('/v1/deposits', body),
    withdraw: (body) => send('/v1/withdrawals', body),
    permitNonce: async (owner) => {
      const { nonce } = await get<PermitNonce>('/v1/permit-nonce', { owner_address: owner })
      return BigInt(nonce)
    },
    depositRecord,
    withdrawalRecord,
    settledDeposit: (hash, options) => settled(() => depositRecord(hash), options),
    settledWithdrawal: (hash, options) => settled(() => withdrawalRecord(hash), options),
  }
}

const SETTLED: ReadonlySet<TransferStatus> = new Set(['confirmed', 'reverted', 'rejected'])

async function settled<T extends { readonly status: TransferStatus }>(
  look: () => Promise<T>,
  { withinMs = SETTLE_WITHIN_MS, everyMs = LOOK_EVERY_MS }: SettleOptions = {},
): Promise<T> {
  const deadline = performance.now() + withinMs
  for (let last = 'not answered'; ;) {
    const record = await lookOnce(look)
    if (record !== undefined && SETTLED.has(record.status)) return record
    last = record?.status ?? last
    if (performance.now() >= deadline) throw new OutcomeUnknown(`still ${last}`)
    await new Promise((resolve) => setTimeout(resolve, everyMs))
  }
}

/** Undefined while the outcome of the lookup is unknown. */
async function lookOnce<T>(look: () => Promise<T>): Promise<T | undefined> {
  try {
    return await look()
  } catch (error) {
    if (error instanceof OutcomeUnknown) return undefined
    throw error
  }
}
