import { setTimeout as delay } from 'node:timers/promises'
import type { MinedTransaction, OpenTransaction } from '../../core/transaction-journal.js'
import { ChainUnreachable, type ChainClient } from '../../chain/reads/client.js'
import {
  readTransferReceipt,
  type TransferReader,
  type TransferReceipt,
} from '../../chain/reads/read-transfer.js'
import type { Address, Hex } from '../../core/action.js'
import { crash } from '../../core/crash-point.js'
import { UNKNOWN_REVERT } from '../../core/revert.js'
import {
  actionHashOf,
  intentOf,
  type TransferKind,
  type TransferRecord,
} from '../../core/transfer.js'
import type { TransferStore } from '../../data/transfer-store.js'
import { isSettled, type RecordBook, type RecordChange } from './records.js'
import type { GasWallet } from '../sending/gas-wallet.js'
import type { Transactions } from '../sending/transactions.js'

export interface TransferFollowDeps {
  readonly kind: TransferKind
  readonly module: Address
  readonly matching: Address
  readonly records: RecordBook
  readonly transactions: Transactions
  readonly gas: Pick<GasWallet, 'paid'>
  readonly revertName: (asset: Address, revert: string) => string
  /** Unix milliseconds. */
  readonly nowMs: () => number
  /** A `read` client. */
  readonly client: ChainClient
  readonly reader: Pick<TransferReader, 'nonceUsed'>
  /** Carries a transfer out again whose transaction was finally displaced by a foreign one. */
  readonly carryOutAgain: (actionHash: Hex) => void
}

const UNCONFIRMED = 'no node has confirmed that it has the transaction'
const ELSEWHERE =
  'carried out by a transaction that is not known here: look for the nonce of the action on chain'

/**
 * Updates a record to the state of its transaction in the journal and on chain; a record without a signed transaction
 * stays as it is. A confirmed or reverted record returns to submitted when the chain lost its block. Rejects with
 * ChainUnreachable.
 */
export async function follow(deps: TransferFollowDeps, actionHash: Hex): Promise<void> {
  const record = deps.records.find(actionHash)
  if (record === undefined) return
  const state = deps.transactions.stateOf(intentOf(deps.kind, actionHash))
  if (state?.kind === 'open') followOpen(deps, record, state.transaction)
  if (state?.kind === 'mined') await followMined(deps, record, state.transaction)
  if (state?.kind === 'displaced') await followDisplaced(deps, record)
}

/** As `follow`, but leaves the record as it is while the chain does not answer. */
export async function followIfAnswering(deps: TransferFollowDeps, actionHash: Hex): Promise<void> {
  try {
    await follow(deps, actionHash)
  } catch (error) {
    if (!(error instanceof ChainUnreachable)) throw error
  }
}

function followOpen(
  deps: TransferFollowDeps,
  record: TransferRecord,
  transaction: OpenTransaction,
): void {
  const { kind, records, transactions, nowMs } = deps
  // Until then another process may come to send something else at its nonce.
  if (!transactions.isPublished(transaction)) return
  const taken = transactions.wasTaken(intentOf(kind, record.actionHash))
  const known = record.status === 'pending' || record.status === 'unknown'
  const status = known && !taken ? record.status : 'submitted'
  const error = status === 'unknown' ? UNCONFIRMED : undefined
  const txHash = transaction.attempts.at(-1)?.hash
  const change: RecordChange = { ...NOT_MINED, status, error, txHash }
  records.change(record.actionHash, change, { submittedAtMs: nowMs() })
}

const NOT_MINED = {
  subaccountId: undefined,
  credited: undefined,
  blockNumber: undefined,
  revert: undefined,
} as const

/** Marks a pending record unknown: no node has confirmed that it has the transaction. */
export function markUnclear(
  { kind, records, transactions }: TransferFollowDeps,
  actionHash: Hex,
): void {
  const record = records.find(actionHash)
  if (record?.status !== 'pending' || transactions.wasTaken(intentOf(kind, actionHash))) return
  records.change(actionHash, { status: 'unknown', error: UNCONFIRMED })
}

async function followMined(
  deps: TransferFollowDeps,
  record: TransferRecord,
  mined: MinedTransaction,
): Promise<void> {
  const { records, revertName, nowMs, transactions } = deps
  const { actionHash, subaccountIdRequested } = record
  if (isSettled(record) && records.blockHashOf(actionHash) === mined.blockHash) return
  if (!(await transactions.published())) return
  crash('transfer.after_receipt_before_mark')
  const receipt = await accountFor(deps, mined.hash, record.asset)
  // The chain has lost this block; the journal will report it.
  if (receipt?.blockHash !== mined.blockHash) return
  const place = { txHash: mined.hash, blockNumber: mined.blockNumber, error: undefined }
  const details = { blockHash: mined.blockHash, submittedAtMs: nowMs() }
  if (mined.status === 'success') {
    const opened = receipt.openedAccountId
    const subaccountId = subaccountIdRequested === 0n ? opened : subaccountIdRequested
    const { credited } = receipt
    const change = { ...place, status: 'confirmed', subaccountId, credited } as const
    records.change(actionHash, { ...change, revert: undefined }, details)
  } else {
    const revert = revertName(record.asset, mined.revert ?? UNKNOWN_REVERT)
    const change = { ...NOT_MINED, ...place, status: 'reverted', revert } as const
    records.change(actionHash, change, details)
  }
  crash('transfer.after_mark_before_answer')
}

/** Books the cost of a mined transaction from its receipt; undefined while the chain has no receipt. */
export async function accountFor(
  { client, matching, gas }: Pick<TransferFollowDeps, 'client' | 'matching' | 'gas'>,
  hash: Hex,
  asset?: Address,
): Promise<TransferReceipt | undefined> {
  const sources = { matching, ...(asset !== undefined && { asset }) }
  const receipt = await readTransferReceipt(client, sources, hash)
  if (receipt !== undefined) gas.paid(hash, receipt.costWei)
  return receipt
}

/** A used action nonce means that a foreign transaction carried the action out. */
async function followDisplaced(deps: TransferFollowDeps, record: TransferRecord): Promise<void> {
  const { module, records, reader, carryOutAgain } = deps
  const { actionHash, owner, nonce, status } = record
  if (status === 'rejected') return
  if (await reader.nonceUsed(module, owner, nonce)) {
    const change = { ...NOT_MINED, txHash: undefined, status: 'unknown', error: ELSEWHERE } as const
    records.change(actionHash, change)
    return
  }
  const change = { ...NOT_MINED, txHash: undefined, status: 'pending', error: undefined } as const
  records.change(actionHash, change)
  carryOutAgain(actionHash)
}

export interface FollowerDeps {
  /** Updates one record from the chain; rejects with ChainUnreachable. */
  readonly follow: (actionHash: Hex) => Promise<void>
  /** The actions whose records may differ from the chain. */
  readonly unsettled: () => readonly Hex[]
  /** Called before each pass, also while the chain does not answer. */
  readonly onPass: () => void
  /** Pause between two passes over all of them. */
  readonly everyMs: number
  readonly onFatal: (error: unknown) => void
}

/** Follows unsettled actions: touched ones at once, all of them in every pass. */
export interface TransferFollower {
  /** The transaction of an action changed. */
  touch(actionHash: Hex): void
  start(): void
  stop(): Promise<void>
}

export function createFollower(deps: FollowerDeps): TransferFollower {
  const { follow, unsettled, onPass, everyMs, onFatal } = deps
  /** Bounded by the transactions that are open. */
  const touched = new Set<Hex>()
  let stopped = false
  let wake = (): void => undefined
  let running: Promise<void> = Promise.resolve()

  async function pass(): Promise<void> {
    onPass()
    const hashes = new Set([...touched, ...unsettled()])
    touched.clear()
    for (const hash of hashes) {
      if (stopped) return
      await follow(hash)
    }
  }

  async function loop(): Promise<void> {
    while (!stopped) {
      await pass().catch((error: unknown) => {
        // The next pass asks again.
        if (!(error instanceof ChainUnreachable)) throw error
      })
      if (touched.size === 0 && !stopped) await pause()
    }
  }

  async function pause(): Promise<void> {
    const woken = new AbortController()
    wake = () => woken.abort()
    await delay(everyMs, undefined, { signal: woken.signal }).catch(() => undefined)
  }

  return {
    touch(actionHash) {
      touched.add(actionHash)
      wake()
    },
    start() {
      running = loop().catch(onFatal)
    },
    async stop() {
      stopped = true
      wake()
      await running
    },
  }
}

export interface UnsettledDeps {
  readonly kind: TransferKind
  readonly store: Pick<TransferStore, 'unsettled' | 'find'>
  readonly transactions: Pick<Transactions, 'unsettledIntents' | 'stateOf'>
}

/** The actions whose records may differ from the chain; may hold duplicates. */
export function unsettledHashes({ kind, store, transactions }: UnsettledDeps): Hex[] {
  const signed = transactions.unsettledIntents().map((intentId) => actionHashOf(kind, intentId))
  const recorded = store.unsettled().map(({ record }) => record.actionHash)
  return [...recorded, ...signed.filter((hash) => hash !== undefined)]
}

/**
 * As `unsettledHashes`, without actions carried out by foreign transactions whose back-off is running. Those stay
 * unsettled for ever, and only a lost block changes their state on chain.
 */
export function dueHashes(deps: UnsettledDeps, backOff: BackOff): Hex[] {
  const { kind, store, transactions } = deps
  const carriedOutElsewhere = (hash: Hex): boolean =>
    transactions.stateOf(intentOf(kind, hash))?.kind === 'displaced' &&
    store.find(hash)?.record.status === 'unknown'
  return unsettledHashes(deps).filter((hash) => !carriedOutElsewhere(hash) || backOff.isDue(hash))
}

/** Exponential back-off for each key. */
export interface BackOff {
  /** True the first time and when the key's pause is over; its next pause, twice as long, then begins. */
  isDue(key: string): boolean
}

export interface BackOffOptions {
  readonly firstMs: number
  readonly longestMs: number
  /** Milliseconds of a clock that never goes back. */
  readonly nowMs?: () => number
}

/** Most keys held; beyond it all are cleared. */
const MAX_KEYS = 1_024

export function createBackOff(options: BackOffOptions): BackOff {
  const { firstMs, longestMs, nowMs = () => performance.now() } = options
  const pauses = new Map<string, { readonly dueAtMs: number; readonly pauseMs: number }>()
  return {
    isDue(key) {
      const now = nowMs()
      const pause = pauses.get(key)
      if (pause !== undefined && now < pause.dueAtMs) return false
      const pauseMs = pause === undefined ? firstMs : Math.min(pause.pauseMs * 2, longestMs)
      if (pause === undefined && pauses.size >= MAX_KEYS) pauses.clear()
      pauses.set(key, { dueAtMs: now + pauseMs, pauseMs })
      return true
    },
  }
}

/** Books the cost of mined preparations; a transfer's own transaction is booked with its record. */
export interface PreparationLedger {
  /** The preparation's transaction changed. */
  add(intentId: string): void
  /** Books the added preparations that are mined; on an unreachable chain the next call tries again. */
  settle(): Promise<void>
  stop(): Promise<void>
}

export function createPreparationLedger(
  deps: Pick<TransferFollowDeps, 'client' | 'matching' | 'gas' | 'transactions'>,
): PreparationLedger {
  /** Bounded by the transactions that are open. */
  const added = new Set<string>()
  let settling: Promise<void> | undefined

  async function settleAll(): Promise<void> {
    for (const intentId of [...added]) {
      const state = deps.transactions.stateOf(intentId)
      const receipt =
        state?.kind === 'mined' ? await accountFor(deps, state.transaction.hash) : undefined
      if (receipt !== undefined || state?.kind !== 'mined') added.delete(intentId)
    }
  }

  return {
    add: (intentId) => void added.add(intentId),
    settle() {
      settling ??= settleAll()
        .catch((error: unknown) => {
          if (!(error instanceof ChainUnreachable)) throw error
        })
        .finally(() => (settling = undefined))
      return settling
    },
    stop: async () => {
      await settling
    },
  }
}
