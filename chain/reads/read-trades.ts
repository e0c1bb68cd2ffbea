import { parseEventLogs } from 'viem'
import type { Address } from '../../core/action.js'
import type { ChainFill } from '../../core/chain-fill.js'
import { E18, mulDivFloor } from '../../core/money.js'
import { futureTradeModuleAbi, subAccountsAbi, tradeModuleAbi } from '../abi/contracts.js'
import type { PinnedBlock } from './blocks.js'
import { orUnreachable, type ChainClient } from './client.js'
import { logSpans } from './logs.js'

/** An order as the trade module counts it. */
export interface CountedOrder {
  readonly owner: Address
  readonly nonce: bigint
}

/** The filled amount that the module has for each order at the block, 1e18. Rejects with ChainUnreachable. */
export function readFilled(
  client: ChainClient,
  { module, block }: { readonly module: Address; readonly block: PinnedBlock },
  orders: readonly CountedOrder[],
): Promise<bigint[]> {
  const asked = orders.map(({ owner, nonce }) =>
    client.readContract({
      address: module,
      abi: tradeModuleAbi,
      functionName: 'filled',
      args: [owner, nonce],
      blockNumber: block.number,
    }),
  )
  return orUnreachable('filled amounts', Promise.all(asked))
}

/** The quote balance of the module's fee account at the block, 1e18. Rejects with ChainUnreachable. */
export async function readFeeBalance(
  client: ChainClient,
  { module, block }: { readonly module: Address; readonly block: PinnedBlock },
): Promise<bigint> {
  const at = { blockNumber: block.number } as const
  const ask = { address: module, abi: tradeModuleAbi, ...at } as const
  const [account, asset, subAccounts] = await orUnreachable(
    'the fee account',
    Promise.all([
      client.readContract({ ...ask, functionName: 'feeRecipient' }),
      client.readContract({ ...ask, functionName: 'quoteAsset' }),
      client.readContract({ ...ask, functionName: 'subAccounts' }),
    ]),
  )
  const balance = client.readContract({
    address: subAccounts,
    abi: subAccountsAbi,
    functionName: 'getBalance',
    args: [account, asset, 0n],
    ...at,
  })
  return orUnreachable('the fee account’s balance', balance)
}

/** An asset with its sub id, as fills name it. */
export const instrumentText = (asset: Address, subId: bigint): string =>
  `${asset.toLowerCase()}:${subId}`

/** The events of a trade module in a range of blocks. */
export interface TradeLogs {
  /** In the chain's order. */
  readonly matches: readonly ChainFill[]
  /** Sum of the fees that were charged, quote at 1e18. */
  readonly fees: bigint
}

export interface BlockRange {
  readonly from: bigint
  readonly to: bigint
}

/** The module's fills and fees of these blocks, both ends included, in several parts. Rejects with ChainUnreachable. */
export async function* readTradeLogs(
  client: ChainClient,
  module: Address,
  { from, to }: BlockRange,
): AsyncGenerator<TradeLogs> {
  for (const { first, last } of logSpans({ first: from, last: to }))
    yield await readPortion(client, { address: module, fromBlock: first, toBlock: last })
}

async function readPortion(
  client: ChainClient,
  range: { readonly address: Address; readonly fromBlock: bigint; readonly toBlock: bigint },
): Promise<TradeLogs> {
  const logs = await orUnreachable('trade logs', client.getLogs(range))
  const parsed = parseEventLogs({ abi: EVENTS, logs })
  let fees = 0n
  const matches: ChainFill[] = []
  for (const log of parsed) {
    if (log.eventName === 'FeeCharged') {
      fees += log.args.takerFee
      continue
    }
    const { transactionHash: txHash, logIndex, blockNumber } = log
    matches.push({ txHash, logIndex, blockNumber, ...fillOf(log) })
  }
  return { matches, fees }
}

const EVENTS = [...tradeModuleAbi, ...futureTradeModuleAbi] as const
type MatchEvent = Exclude<
  ReturnType<typeof parseEventLogs<typeof EVENTS>>[number],
  { readonly eventName: 'FeeCharged' }
>

/** The module of futures states a price where the others state a quote: price × amount, rounded down. */
function fillOf(log: MatchEvent): Omit<ChainFill, 'txHash' | 'logIndex' | 'blockNumber'> {
  const { taker, maker, takerIsBid } = log.args
  const parties = { taker, maker, takerIsBid }
  if (log.eventName === 'FutureMatched') {
    const { asset, subId, price, amount } = log.args
    const quote = mulDivFloor(price, amount, E18)
    return { ...parties, instrument: instrumentText(asset, subId), quote, amount }
  }
  const { base, amtQuote: quote, amtBase: amount } = log.args
  return { ...parties, instrument: instrumentText(base, 0n), quote, amount }
}
