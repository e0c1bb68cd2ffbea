import type { Address } from '../../core/action.js'
import { quantityOf } from '../reads/answer-form.js'
import { orUnreachable, type ChainClient } from '../reads/client.js'

/** Fees to bid, and the sender's balance, in wei. */
export interface GasFacts {
  readonly maxFeePerGas: bigint
  readonly maxPriorityFeePerGas: bigint
  /** Of the newest block. */
  readonly baseFeePerGas: bigint
  /** The gas that the newest block could have held. */
  readonly blockGasLimit: bigint
  readonly balance: bigint
}

export type GasReader = () => Promise<GasFacts>

const BLOCK_TIME_MS = 2_000
/** Covers a base fee that rises by an eighth in each of eleven full blocks; only the actual base fee is paid. */
const BASE_FEE_HEADROOM = 4n
const MIN_PRIORITY_FEE_WEI = 1n

/** Reads fees and balance at most once a block; rejects with ChainUnreachable. */
export function createGasReader(client: ChainClient, sender: Address): GasReader {
  let reading: Promise<GasFacts> | undefined
  let readAtMs = 0
  return async () => {
    const nowMs = performance.now()
    if (reading === undefined || nowMs - readAtMs >= BLOCK_TIME_MS) {
      readAtMs = nowMs
      reading = orUnreachable('fees and balance', fetchGas(client, sender))
      // A failure rejects the current callers; the next caller reads again.
      reading.catch(() => (reading = undefined))
    }
    return reading
  }
}

async function fetchGas(client: ChainClient, sender: Address): Promise<GasFacts> {
  const [block, suggested, balance] = await Promise.all([
    client.getBlock({ blockTag: 'latest' }),
    client.request({ method: 'eth_maxPriorityFeePerGas' }),
    client.getBalance({ address: sender }),
  ])
  const tip = quantityOf(suggested, 'the suggested tip')
  const maxPriorityFeePerGas = tip > MIN_PRIORITY_FEE_WEI ? tip : MIN_PRIORITY_FEE_WEI
  const baseFeePerGas = block.baseFeePerGas ?? 0n
  const maxFeePerGas = BASE_FEE_HEADROOM * baseFeePerGas + maxPriorityFeePerGas
  const { gasLimit: blockGasLimit } = block
  return { maxFeePerGas, maxPriorityFeePerGas, baseFeePerGas, blockGasLimit, balance }
}

/** An amount in wei, or the cost of so many transactions with so much gas at the current fees. */
export type GasReserve =
  { readonly wei: bigint } | { readonly transactions: bigint; readonly gasEach: bigint }

export const NO_RESERVE: GasReserve = { wei: 0n }

/** The balance to keep at the current fees, in wei. */
export function reserveWei(reserve: GasReserve, { maxFeePerGas }: GasFacts): bigint {
  return 'wei' in reserve ? reserve.wei : reserve.transactions * reserve.gasEach * maxFeePerGas
}

/** The highest fees of a transaction, in wei. */
export interface FeeCaps {
  readonly maxFeePerGas: bigint
  readonly maxPriorityFeePerGas: bigint
}

/** Nodes replace a pooled transaction by one that bids at least a tenth more; an eighth is safely above. */
const RAISE = { numerator: 9n, denominator: 8n }

/**
 * Fees for a transaction that replaces another one at its nonce: each at least an eighth higher, rounded up, and at
 * least the suggested fee. Undefined when the whole would exceed `multiple` times the suggested one. The tip is a part of
 * it: held to its own suggestion, a tip that fell since would keep the transaction below a base fee that rose.
 */
export function raiseFees(
  before: FeeCaps,
  suggested: FeeCaps,
  multiple: bigint,
): FeeCaps | undefined {
  const maxFeePerGas = raised(before.maxFeePerGas, suggested.maxFeePerGas)
  if (maxFeePerGas > multiple * suggested.maxFeePerGas) return undefined
  const tip = raised(before.maxPriorityFeePerGas, suggested.maxPriorityFeePerGas)
  return { maxFeePerGas, maxPriorityFeePerGas: tip }
}

function raised(before: bigint, suggested: bigint): bigint {
  const { numerator, denominator } = RAISE
  const higher = (before * numerator + denominator - 1n) / denominator
  return higher > suggested ? higher : suggested
}
