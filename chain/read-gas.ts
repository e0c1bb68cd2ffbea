import type { Address } from '../core/action.js'
import { orUnreachable } from './chain-unreachable.js'
import type { ChainClient } from './client.js'

/** What a transaction may bid and its sender can pay, in wei. */
export interface GasFacts {
  readonly maxFeePerGas: bigint
  readonly maxPriorityFeePerGas: bigint
  /** Of the newest block. */
  readonly baseFeePerGas: bigint
  readonly balance: bigint
}

export type GasReader = () => Promise<GasFacts>

const BLOCK_TIME_MS = 2_000
/** The bid covers a base fee that grew by an eighth for eleven full blocks in a row; only what is needed is paid. */
const BASE_FEE_HEADROOM = 4n
const MIN_PRIORITY_FEE_WEI = 1n

/** Reads what `sender` may bid, at most a block old; rejects with ChainUnreachable. */
export function createGasReader(client: ChainClient, sender: Address): GasReader {
  let reading: Promise<GasFacts> | undefined
  let readAtMs = 0
  return async () => {
    const nowMs = performance.now()
    if (reading === undefined || nowMs - readAtMs >= BLOCK_TIME_MS) {
      readAtMs = nowMs
      reading = orUnreachable('fees and balance', fetchGas(client, sender))
      // A failure is told to those who asked, and asked about again by the next.
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
  const tip = BigInt(suggested)
  const maxPriorityFeePerGas = tip > MIN_PRIORITY_FEE_WEI ? tip : MIN_PRIORITY_FEE_WEI
  const baseFeePerGas = block.baseFeePerGas ?? 0n
  const maxFeePerGas = BASE_FEE_HEADROOM * baseFeePerGas + maxPriorityFeePerGas
  return { maxFeePerGas, maxPriorityFeePerGas, baseFeePerGas, balance }
}
