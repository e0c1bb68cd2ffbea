import type { Address, Hex } from '../../core/action.js'
import { mulDivCeil } from '../../core/money.js'
import type { Inclusion } from '../../core/transaction-journal.js'
import { rpcErrorOf } from '../abi/errors.js'
import type { ChainClient } from '../reads/client.js'
import { gasOfBatch, type MatchGas } from './simulate.js'

/** A match's share of what its transaction used and cost. */
export interface GasUse {
  /** Rounded up. */
  readonly gas: bigint
  /** Rounded up. */
  readonly wei: bigint
}

/**
 * The share of the match with this fingerprint. Undefined when the node knows no such transaction; `unreadable`: it cannot
 * be asked now.
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

interface GasReceipt {
  readonly gasUsed: Hex
  readonly effectiveGasPrice: Hex
  /** What a rollup charges in wei for the transaction's data. */
  readonly l1Fee?: Hex | null
  readonly logs: Parameters<typeof gasOfBatch>[0]
}

/** viem's types lack what rollups add. */
interface ReceiptSchema {
  readonly Parameters: readonly [hash: Hex]
  readonly ReturnType: GasReceipt | null
}

/** Transactions whose matches ask about at once: each match of a batch asks when the batch is mined. */
const KEPT = 256

/**
 * By what each match used of its batch, as the batch's events tell it: what the transaction itself costs is shared in the
 * same proportion, by equal parts where no match used any. A match without a batch bears its whole transaction. `client`
 * is a `long` client.
 */
export function createGasUseReader(
  client: Pick<ChainClient, 'request'>,
  batchExecutor: Address | undefined,
): ReadGasUse {
  const kept = new Map<Hex, Promise<TransactionGas | undefined>>()

  async function read(hash: Hex): Promise<TransactionGas | undefined> {
    const receipt = await client.request<ReceiptSchema>({
      method: 'eth_getTransactionReceipt',
      params: [hash],
    })
    if (receipt === null) return undefined
    const { gasUsed, effectiveGasPrice, l1Fee, logs } = receipt
    const gas = BigInt(gasUsed)
    const wei = gas * BigInt(effectiveGasPrice) + BigInt(l1Fee ?? 0)
    return { gas, wei, matches: batchExecutor === undefined ? [] : gasOfBatch(logs, batchExecutor) }
  }

  function readOnce(hash: Hex): Promise<TransactionGas | undefined> {
    const known = kept.get(hash)
    if (known !== undefined) return known
    const reading = read(hash)
    kept.set(hash, reading)
    const [oldest] = kept.keys()
    if (kept.size > KEPT && oldest !== undefined) kept.delete(oldest)
    // What was not read, or is not there yet, is read again by the next that asks.
    const forget = () => void (kept.get(hash) === reading && kept.delete(hash))
    reading.then((found) => found ?? forget(), forget)
    return reading
  }

  return async ({ hash }, fingerprint) => {
    try {
      const found = await readOnce(hash)
      return found && shareOf(found, fingerprint)
    } catch (error) {
      // A node that answers with an error will not find it later either.
      return rpcErrorOf(error) === undefined ? 'unreadable' : undefined
    }
  }
}

function shareOf({ gas, wei, matches }: TransactionGas, fingerprint: Hex): GasUse {
  const own = matches.find(({ key }) => key === fingerprint)
  // Its whole transaction is its own: a batch that reverted as a whole has no events either.
  if (own === undefined) return { gas, wei }
  const used = matches.reduce((sum, { gasUsed }) => sum + gasUsed, 0n)
  const [part, whole] = used === 0n ? [1n, BigInt(matches.length)] : [own.gasUsed, used]
  return { gas: mulDivCeil(gas, part, whole), wei: mulDivCeil(wei, part, whole) }
}
