import { BaseError } from 'viem'
import type { Address, Hex } from '../../core/action.js'
import { mulDivCeil } from '../../core/money.js'
import type { Inclusion } from '../../core/transaction-journal.js'
import { rpcErrorOf } from '../abi/errors.js'
import { isEvent, isQuantity } from '../reads/answer-form.js'
import type { ReceiptLog } from '../sender/sender-chain.js'
import type { ChainClient } from '../reads/client.js'
import { throwDefect } from '../reads/read-failure.js'
import { gasOfBatch, type MatchGas } from './simulate.js'

/** A match's share of what its transaction used and cost. */
export interface GasUse {
  /** Rounded up. */
  readonly gas: bigint
  /** Rounded up. */
  readonly wei: bigint
}

/**
 * The share of the match with this fingerprint. Undefined when the node does not show what transactions cost, or has not
 * shown it of this one for half a minute; `unreadable`: it has not yet, or cannot be asked now. Rejects only when an
 * invariant is broken.
 */
export type ReadGasUse = (
  mined: Pick<Inclusion, 'hash'>,
  fingerprint: Hex,
) => Promise<GasUse | undefined | 'unreadable'>

/** What a transaction used and cost in all, and its matches. */
interface TransactionGas {
  readonly gas: bigint
  readonly wei: bigint
  readonly matches: readonly MatchGas[]
}

/** viem's types lack what rollups add, and a node may answer anything. */
interface ReceiptSchema {
  readonly Parameters: readonly [hash: Hex]
  readonly ReturnType: unknown
}

interface GasReceipt {
  readonly gasUsed: Hex
  readonly effectiveGasPrice: Hex
  /** What a rollup charges in wei for the transaction's data. */
  readonly l1Fee?: Hex | null
  readonly logs: readonly ReceiptLog[]
}

/**
 * What the node says of a transaction. `strange`: its receipt tells no cost. `absent`: it answers without a receipt.
 * `unsupported`: it never has one. `silent`: it does not answer.
 */
type GasFinding = TransactionGas | 'strange' | 'absent' | 'unsupported' | 'silent'

/** Transactions whose matches ask about at once: each match of a batch asks when the batch is mined. */
const KEPT = 256

/** Beyond every chain: a receipt with more tells no cost, since what is computed from it enters the market's log. */
const MOST_GAS = 2n ** 40n
const MOST_WEI = 2n ** 128n

/** How long a missing receipt of a mined transaction is asked for: nodes behind one address differ by less. */
const ASKED_FOR_MS = 30_000
/** JSON-RPC: no such method; and of Ethereum's nodes: not supported. */
const NO_METHOD = [-32_601, -32_004]

export interface GasUseReaderDeps {
  /** A `long` client. */
  readonly client: Pick<ChainClient, 'request'>
  readonly batchExecutor: Address | undefined
  /** A receipt has a form that tells no cost. */
  readonly onUnreadable: (hash: Hex) => void
  /** Monotonic milliseconds. */
  readonly elapsedMs?: () => number
}

/**
 * By what each match used of its batch, as the batch's events tell it: what the transaction itself costs is shared in the
 * same proportion, by equal parts where no match used any. A match without a batch bears its whole transaction.
 */
export function createGasUseReader(deps: GasUseReaderDeps): ReadGasUse {
  const { client, batchExecutor, onUnreadable, elapsedMs = () => performance.now() } = deps
  const kept = new Map<Hex, Promise<GasFinding>>()
  /** Since when the node answers without a receipt. */
  const absent = new Map<Hex, number>()

  async function read(hash: Hex): Promise<GasFinding> {
    const receipt = await receiptOf(client, hash)
    if (typeof receipt === 'string') return receipt
    const gas = gasOf(receipt, batchExecutor)
    if (gas === undefined) onUnreadable(hash)
    return gas ?? 'strange'
  }

  function readOnce(hash: Hex): Promise<GasFinding> {
    const known = kept.get(hash)
    if (known !== undefined) return known
    const reading = read(hash)
    kept.set(hash, reading)
    dropOldest(kept)
    // What was not read, or is not there yet, is read again by the next that asks.
    const forget = () => void (kept.get(hash) === reading && kept.delete(hash))
    reading.then((found) => !(typeof found === 'object' || found === 'strange') && forget(), forget)
    return reading
  }

  function isAwaited(hash: Hex): boolean {
    const since = absent.get(hash) ?? elapsedMs()
    absent.set(hash, since)
    dropOldest(absent)
    return elapsedMs() - since < ASKED_FOR_MS
  }

  return async ({ hash }, fingerprint) => {
    const found = await readOnce(hash)
    if (found === 'silent') return 'unreadable'
    if (found === 'absent') return isAwaited(hash) ? 'unreadable' : undefined
    absent.delete(hash)
    return typeof found === 'object' ? shareOf(found, fingerprint) : undefined
  }
}

async function receiptOf(
  client: GasUseReaderDeps['client'],
  hash: Hex,
): Promise<object | 'strange' | 'absent' | 'unsupported' | 'silent'> {
  const method = 'eth_getTransactionReceipt'
  try {
    const receipt = await client.request<ReceiptSchema>({ method, params: [hash] })
    if (receipt === null) return 'absent'
    return typeof receipt === 'object' ? receipt : 'strange'
  } catch (error) {
    throwDefect(error)
    const answer = rpcErrorOf(error)
    if (answer === undefined) return 'silent'
    return NO_METHOD.includes(answer.code) ? 'unsupported' : 'absent'
  }
}

function dropOldest(map: Map<Hex, unknown>): void {
  const [oldest] = map.keys()
  if (map.size > KEPT && oldest !== undefined) map.delete(oldest)
}

/** Undefined where the receipt has not the form of one, or tells more than a transaction can cost. */
function gasOf(receipt: object, batchExecutor: Address | undefined): TransactionGas | undefined {
  if (!isReceipt(receipt)) return undefined
  const { gasUsed, effectiveGasPrice, l1Fee, logs } = receipt
  const gas = BigInt(gasUsed)
  const wei = gas * BigInt(effectiveGasPrice) + BigInt(l1Fee ?? 0)
  if (gas > MOST_GAS || wei > MOST_WEI) return undefined
  if (batchExecutor === undefined) return { gas, wei, matches: [] }
  try {
    return { gas, wei, matches: gasOfBatch(logs, batchExecutor) }
  } catch (error) {
    // viem's error for data that are not those of the event.
    if (error instanceof BaseError) return undefined
    throw error
  }
}

function isReceipt(value: object): value is GasReceipt {
  const { gasUsed, effectiveGasPrice, l1Fee, logs } = value as Record<keyof GasReceipt, unknown>
  return (
    isQuantity(gasUsed) &&
    isQuantity(effectiveGasPrice) &&
    (l1Fee === undefined || l1Fee === null || isQuantity(l1Fee)) &&
    Array.isArray(logs) &&
    logs.every(isEvent)
  )
}

function shareOf({ gas, wei, matches }: TransactionGas, fingerprint: Hex): GasUse {
  const own = matches.find(({ key }) => key === fingerprint)
  // Its whole transaction is its own: a batch that reverted as a whole has no events either.
  if (own === undefined) return { gas, wei }
  const used = matches.reduce((sum, { gasUsed }) => sum + gasUsed, 0n)
  const [part, whole] = used === 0n ? [1n, BigInt(matches.length)] : [own.gasUsed, used]
  return { gas: mulDivCeil(gas, part, whole), wei: mulDivCeil(wei, part, whole) }
}
