import { parseEventLogs } from 'viem'
import type { Address, Hex } from '../core/action.js'
import { tradeModuleAbi } from './abi/trade-module.js'
import { orUnreachable } from './chain-unreachable.js'
import type { ChainClient } from './client.js'

/** A fill as the trade module told of it; amounts at 1e18. */
export interface MatchLog {
  readonly txHash: Hex
  readonly logIndex: number
  readonly blockNumber: bigint
  readonly base: Address
  readonly taker: bigint
  readonly maker: bigint
  readonly takerIsBid: boolean
  readonly quote: bigint
  readonly amount: bigint
}

/** What a trade module told of a range of blocks. */
export interface TradeLogs {
  /** In the chain's order. */
  readonly matches: readonly MatchLog[]
  /** Sum of the fees that were charged, quote at 1e18. */
  readonly fees: bigint
}

export interface BlockRange {
  readonly from: bigint
  readonly to: bigint
}

/** Blocks of one question: what public nodes answer without complaint. */
const BLOCKS_PER_READ = 500n

/** The module's fills and fees of these blocks, both ends included, in portions. Rejects with ChainUnreachable. */
export async function* readTradeLogs(
  client: ChainClient,
  module: Address,
  { from, to }: BlockRange,
): AsyncGenerator<TradeLogs> {
  for (let fromBlock = from; fromBlock <= to; fromBlock += BLOCKS_PER_READ) {
    const last = fromBlock + BLOCKS_PER_READ - 1n
    const toBlock = last < to ? last : to
    yield await readPortion(client, { address: module, fromBlock, toBlock })
  }
}

async function readPortion(
  client: ChainClient,
  range: { readonly address: Address; readonly fromBlock: bigint; readonly toBlock: bigint },
): Promise<TradeLogs> {
  const logs = await orUnreachable('trade logs', client.getLogs(range))
  const parsed = parseEventLogs({ abi: tradeModuleAbi, logs })
  let fees = 0n
  const matches: MatchLog[] = []
  for (const log of parsed) {
    if (log.eventName === 'FeeCharged') {
      fees += log.args.takerFee
      continue
    }
    const { base, taker, maker, takerIsBid, amtQuote: quote, amtBase: amount } = log.args
    const { transactionHash: txHash, logIndex, blockNumber } = log
    const where = { txHash, logIndex, blockNumber, base: base.toLowerCase() as Address }
    matches.push({ ...where, taker, maker, takerIsBid, quote, amount })
  }
  return { matches, fees }
}
