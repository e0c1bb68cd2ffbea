import type { GasFacts } from '../chain/sender/gas.js'
import { quoteE18, type QuoteE18 } from '../core/money.js'
import { causeOf, costOfMatch, GAS_OF_A_MATCH, type Cause } from './cause.js'
import { createFairOrder, type GroupRoom } from './fair-order.js'
import type { SumOfGas } from './in-flight.js'
import type { QueuedSettlement } from './settlement.js'

/** While so many blocks' gas is in flight nothing is added: what arrives later would be mined after it. */
const MAX_BLOCKS_IN_FLIGHT = 2n
/** The part of a block's gas that dust in flight may have, while others wait and while none does. */
const PART_OF_DUST = { besideOthers: 10n, alone: 2n }

/** Which settlements come next. */
export interface GroupChoice {
  /** Of those that are due, in the order of their arrival, with the gas of the moment and what is in flight. */
  choose(
    due: readonly QueuedSettlement[],
    gas: GasFacts,
    inFlight: SumOfGas,
  ): { readonly group: readonly QueuedSettlement[]; readonly moreWait: boolean }
  /** They are settled: their owners have had their turns. */
  served(these: readonly QueuedSettlement[]): void
  /** By what gas cost at the last choice. */
  causeOf(one: Pick<QueuedSettlement, 'settlement'>): Cause
}

export interface GroupChoiceDeps {
  readonly maxGroup: number
  /** USDC at 1e18 for 1e18 wei. */
  readonly gasTokenPrice: QuoteE18
}

export function createGroupChoice({ maxGroup, gasTokenPrice }: GroupChoiceDeps): GroupChoice {
  let cost = quoteE18(0n)
  const order = createFairOrder<QueuedSettlement>(({ settlement }) => ({
    ...causeOf(settlement, cost),
    accountIds: settlement.accountIds,
  }))
  return {
    choose(due, gas, inFlight) {
      cost = costOfMatch(gas, gasTokenPrice)
      for (const one of due) one.isDust = causeOf(one.settlement, cost).isDust
      return order.next(due, roomFor(due, maxGroup, gas, inFlight))
    },
    served: (these) => order.served(these),
    causeOf: ({ settlement }) => causeOf(settlement, cost),
  }
}

/** How many settlements the next group may have besides what is in flight, and how many of them may be dust. */
function roomFor(
  due: readonly QueuedSettlement[],
  most: number,
  { blockGasLimit }: GasFacts,
  { gas, dustGas }: SumOfGas,
): GroupRoom {
  if (gas >= MAX_BLOCKS_IN_FLIGHT * blockGasLimit) return { most: 0, mostDust: 0 }
  const othersWait = due.some(({ isDust }) => isDust !== true)
  const part = othersWait ? PART_OF_DUST.besideOthers : PART_OF_DUST.alone
  // Rounded down.
  const left = (blockGasLimit / part - dustGas) / GAS_OF_A_MATCH
  // One stands in every group with others, and by itself where none is in flight.
  const least = othersWait || dustGas === 0n ? 1 : 0
  const mostOfGroup = othersWait ? Math.floor(most / Number(part)) : most
  const fitting = left < BigInt(mostOfGroup) ? Number(left) : mostOfGroup
  return { most, mostDust: Math.max(least, fitting) }
}
