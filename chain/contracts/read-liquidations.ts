import type { RpcLog } from 'viem'
import type { Address, Hex } from '../../core/action.js'
import type { MarketFacts } from '../../core/model/observation.js'
import type { Liquidation } from '../../core/contracts/liquidation.js'
import type { Market } from '../../core/model/market.js'
import { blockTimeSec } from '../../core/time.js'
import { exactQuantityOf, hexOf, quantityOf } from '../reads/answer-form.js'
import { orUnreachable } from '../reads/client.js'
import { readLogs, type BlockSpan, type EventFilter } from '../reads/logs.js'
import { accountCalls, type ObservingDeps } from './observe-account.js'
import type { LiquidationReads, PlacedEvent } from './chain-contract.js'
import { chainContractOf } from './registry.js'

/** Blocks whose state every node keeps: of older events nothing but the events is read. */
export const STATE_KEPT = 64n
/** Events of one market that are read together, without those of the last one's transaction. */
const EVENTS_AT_ONCE = 200

/** A market and what was last seen of it. */
export interface SeenMarket {
  readonly market: Market
  readonly seen: MarketFacts
}

/** A range of at most MAX_LOG_BLOCKS blocks, and the newest block. */
export interface LiquidationSpan extends BlockSpan {
  readonly head: bigint
}

/** Reads the liquidations of these markets in the blocks of the span, in no order. Rejects with ChainUnreachable. */
export type ReadLiquidations = (
  markets: readonly SeenMarket[],
  span: LiquidationSpan,
) => Promise<readonly Liquidation[]>

/** One request for the events of all markets; the rest is read where there are any. */
export const createReadLiquidations =
  (deps: ObservingDeps): ReadLiquidations =>
  (markets, span) =>
    orUnreachable(
      `liquidations in blocks ${span.first} to ${span.last}`,
      fetchLiquidations(deps, markets, span),
    )

async function fetchLiquidations(
  deps: ObservingDeps,
  markets: readonly SeenMarket[],
  span: LiquidationSpan,
): Promise<readonly Liquidation[]> {
  const asked = markets.flatMap(({ market, seen }) => {
    const liquidating = chainContractOf(market)?.liquidating
    const filter = liquidating?.eventsOf(market, seen)
    return liquidating === undefined || filter === undefined
      ? []
      : [{ market, liquidating, filter }]
  })
  if (asked.length === 0) return []
  const logs = await readLogs(deps.client, unionOf(asked.map(({ filter }) => filter)), span)
  const events = logs.map(placed)
  const found = await Promise.all(
    asked.map(async ({ market, liquidating, filter }) => {
      const own = events.filter((event) => isAmong(filter, event))
      const read: Liquidation[] = []
      for (const some of inSlices(own, EVENTS_AT_ONCE)) {
        const told = await liquidating.read(market, some, readsOf(deps, span))
        const times = await timesOf(deps, some)
        for (const [i, one] of told.entries()) {
          const place = some[i]
          const atSec = place && times.get(place.blockHash)
          if (place === undefined || atSec === undefined) continue
          const { txHash, blockHash, logIndex, blockNumber } = place
          const { market: name } = market
          read.push({
            ...one,
            market: name,
            txHash,
            blockHash,
            logIndex,
            blockNumber,
            blockTimeSec: atSec,
          })
        }
      }
      return read
    }),
  )
  return found.flat()
}

/** In slices of so many events, and more where they would part a transaction: a bid is told by those before it there. */
export function inSlices(events: readonly PlacedEvent[], size: number): PlacedEvent[][] {
  const slices: PlacedEvent[][] = []
  for (const event of events) {
    const slice = slices.at(-1)
    if (slice === undefined || (slice.length >= size && slice.at(-1)?.txHash !== event.txHash))
      slices.push([event])
    else slice.push(event)
  }
  return slices
}

/** What any of these filters takes, and more: they differ beyond the first topic. */
function unionOf(filters: readonly EventFilter[]): EventFilter {
  const addresses = new Set(filters.flatMap(({ address }) => address))
  const events = new Set(filters.flatMap(({ topics: [event] }) => event ?? []))
  return { address: [...addresses], topics: [[...events]] }
}

/** Whether the event is one that the filter asks for. */
const isAmong = ({ address, topics }: EventFilter, event: PlacedEvent): boolean =>
  [address].flat().some((one) => one.toLowerCase() === event.address) &&
  topics.every((topic, i) => {
    const found = event.topics[i]
    return topic === null || (found !== undefined && [topic].flat().includes(found))
  })

function placed(log: RpcLog): PlacedEvent {
  return {
    address: log.address.toLowerCase() as Address,
    topics: log.topics,
    data: log.data,
    txHash: hexOf(log.transactionHash, 'the transaction of an event'),
    blockHash: hexOf(log.blockHash, 'the block of an event'),
    blockNumber: quantityOf(log.blockNumber, 'the block of an event'),
    logIndex: exactQuantityOf(log.logIndex, 'the place of an event'),
  }
}

function readsOf(deps: ObservingDeps, { head }: LiquidationSpan): LiquidationReads {
  return {
    subAccounts: deps.deployment.subAccounts,
    async events(filter, among) {
      const numbers = among.map(({ blockNumber }) => blockNumber)
      const first = numbers.reduce(lower)
      const last = numbers.reduce(higher)
      return (await readLogs(deps.client, filter, { first, last })).map(placed)
    },
    balance(subaccountId, { asset, subId }, { blockHash, blockNumber }) {
      if (blockNumber + STATE_KEPT < head) return Promise.resolve(undefined)
      return accountCalls(deps, subaccountId, { hash: blockHash }).balance(asset, subId)
    },
  }
}

const lower = (a: bigint, b: bigint): bigint => (a < b ? a : b)
const higher = (a: bigint, b: bigint): bigint => (a > b ? a : b)

/** The time of each block that holds one of the events, unix seconds. */
async function timesOf(
  { client }: ObservingDeps,
  events: readonly PlacedEvent[],
): Promise<ReadonlyMap<Hex, number>> {
  const hashes = [...new Set(events.map(({ blockHash }) => blockHash))]
  const blocks = await Promise.all(hashes.map((blockHash) => client.getBlock({ blockHash })))
  return new Map(blocks.map(({ timestamp }, i) => [hashes[i] as Hex, blockTimeSec(timestamp)]))
}
