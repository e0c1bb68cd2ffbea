import { createChainClient } from '../../chain/reads/client.js'
import type { Hex } from '../../core/action.js'
import { historyPath } from '../../data/history/project.js'
import { openReadModel, ReadModelAbsent } from '../../data/history/read-model.js'
import type { StoredOrder } from '../../data/history/read-orders.js'
import {
  openStoresReader,
  type IntentTrail,
  type TradeTrail,
  type TransferTrail,
} from '../../data/inspect-stores.js'

/** Everything that the venue and the chain know of what was asked about. */
export interface InspectionResult {
  readonly orders: readonly StoredOrder[]
  readonly trades: readonly TradeTrail[]
  readonly settlements: readonly IntentTrail[]
  readonly transfers: readonly TransferTrail[]
  /** What the node says of each transaction that is named above; empty without a node. */
  readonly chain: readonly NodeTransaction[]
}

/** A transaction on the node. */
export interface NodeTransaction {
  readonly hash: Hex
  /** `unknown`: the node does not have it; `unreachable`: it does not answer. */
  readonly status: 'success' | 'reverted' | 'unknown' | 'unreachable'
  readonly blockNumber?: number
  readonly gasUsed?: number
}

export interface InspectDeps {
  readonly dataDir: string
  readonly rpcUrl: string | undefined
}

/** Most transactions whose receipts are read. */
const MAX_RECEIPTS = 20

/**
 * Looks for an order id, a nonce, an action hash, a settlement id or a transaction hash in the venue's databases, follows
 * what it finds (order to trades, trade to settlement, settlement to transactions), and reads the receipts. The venue may
 * run or not. Throws UnknownSchemaVersion when another release wrote a database.
 */
export async function inspect(deps: InspectDeps, subject: string): Promise<InspectionResult> {
  const stores = openStoresReader(deps.dataDir)
  try {
    const named = [subject, ...stores.ordersWithNonce(subject)]
    const trades = unique(
      named.flatMap((each) => stores.trades(each)),
      ({ tradeId }) => `${tradeId}`,
    )
    const settlementIds = new Set(trades.map(({ settlementId }) => settlementId))
    const settlements = unique(
      [subject, ...settlementIds].flatMap((each) => stores.intents(each)),
      ({ journal, intentId }) => `${journal} ${intentId}`,
    )
    const touched = trades.flatMap(({ makerOrderId, takerOrderId }) => [makerOrderId, takerOrderId])
    const orders = ordersOf(deps.dataDir, [...named, ...touched])
    const hashes = settlements.flatMap(({ transactions }) =>
      transactions.flatMap(({ attempts }) => attempts.map(({ hash }) => hash)),
    )
    const chain = await receiptsOf(deps.rpcUrl, [...new Set(hashes)].slice(-MAX_RECEIPTS))
    return { orders, trades, settlements, transfers: stores.transfers(subject), chain }
  } finally {
    stores.close()
  }
}

/** Whether anything was found at all. */
export const isEmpty = ({ orders, trades, settlements, transfers }: InspectionResult): boolean =>
  orders.length + trades.length + settlements.length + transfers.length === 0

function unique<T>(all: readonly T[], keyOf: (one: T) => string): T[] {
  return [...new Map(all.map((one) => [keyOf(one), one])).values()]
}

function ordersOf(dataDir: string, ids: readonly string[]): StoredOrder[] {
  try {
    const history = openReadModel(historyPath(dataDir))
    try {
      return [...new Set(ids)].flatMap((id) => history.order(id) ?? [])
    } finally {
      history.close()
    }
  } catch (error) {
    if (error instanceof ReadModelAbsent) return []
    throw error
  }
}

async function receiptsOf(
  rpcUrl: string | undefined,
  hashes: readonly Hex[],
): Promise<NodeTransaction[]> {
  if (rpcUrl === undefined) return []
  const client = createChainClient(rpcUrl, 'read')
  return Promise.all(
    hashes.map(async (hash): Promise<NodeTransaction> => {
      try {
        const receipt = await client.request({
          method: 'eth_getTransactionReceipt',
          params: [hash],
        })
        if (receipt === null) return { hash, status: 'unknown' }
        return {
          hash,
          status: receipt.status === '0x1' ? 'success' : 'reverted',
          blockNumber: Number(receipt.blockNumber),
          gasUsed: Number(receipt.gasUsed),
        }
      } catch {
        return { hash, status: 'unreachable' }
      }
    }),
  )
}
