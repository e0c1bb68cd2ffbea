import { availableParallelism } from 'node:os'
import type { Row } from './bench.js'
import { ratio } from './rounds.js'

/** Takers of the one maker on the future. */
export const TAKERS = 100
/** Processes whose processor time is reported, by Procfile name. */
export const TIMED = { executor: 'executor', matcher: 'matcher-cngn-usdc', chain: 'chain' }

/** Percent of a block; the chain shares the processors with the venue when there are two. */
const GAS_SHARE = availableParallelism() > 2 ? 85 : 75

/** One round of settlements. */
export interface Together {
  /** Of the blocks under load. */
  readonly blocks: number
  readonly perBlock: number
  readonly gasShare: number
  readonly gasOfMatch: number
  readonly perSecond: number
  /** Processor time of a match, by process. */
  readonly cpuUs: Readonly<Record<keyof typeof TIMED, number>>
}

/** Matches of which each is sent when the one before has its receipt. */
export interface Alone {
  readonly perBlock: number
  /** From sending the taker's order to the fill in the feed. */
  readonly settledSec: number
}

export const NOTES = [
  'Makers rest, then orders that each fill twenty of them arrive at once. Only blocks under load count: at least a full block of matches was pending as their interval began. Blocks have 240M gas, transactions at most 16.7M. The chain is anvil on the same processors, which simulates every match before it is sent and executes it again in the block; it does not save its state meanwhile.',
]

export function rowsOf(rounds: readonly Together[], single: readonly Alone[]): Row[] {
  const perBlock = rounds.map((each) => each.perBlock)
  const alone = single.map((each) => each.perBlock)
  const gasShare = rounds.map((each) => 100 * each.gasShare)
  const cpu = Object.keys(TIMED) as (keyof typeof TIMED)[]
  return [
    { what: 'settled in a block', unit: 'matches', values: perBlock },
    { what: 'blocks under load', unit: 'blocks', values: rounds.map(({ blocks }) => blocks) },
    { what: 'matches', unit: '1/s', values: rounds.map((each) => each.perSecond) },
    { what: 'gas of the block they use', unit: '%', values: gasShare },
    { what: 'gas of a match', unit: 'gas', values: gasOf(rounds) },
    { what: 'settled in a block, receipt by receipt', unit: 'matches', values: alone },
    ratio('venue / receipt by receipt', [perBlock, alone], { atLeast: 100 }),
    {
      what: 'receipt by receipt: order sent to settled',
      unit: 's',
      values: single.map((each) => each.settledSec),
    },
    ...cpu.map((name) => {
      const values = rounds.map(({ cpuUs }) => cpuUs[name])
      return { what: `processor time of a match, ${name}`, unit: 'µs', values }
    }),
  ]
}

/** As many makers as takers, each with an account of its own, which an order of each is for. */
export function pairRowsOf(rounds: readonly Together[], spot: readonly Together[]): Row[] {
  const perBlock = (all: readonly Together[]) => all.map((each) => each.perBlock)
  const what = 'makers and takers of their own: settled in a block'
  return [
    { what, unit: 'matches', values: perBlock(rounds) },
    {
      what: 'makers and takers of their own: gas of the block they use',
      unit: '%',
      values: rounds.map((each) => 100 * each.gasShare),
      goal: { atLeast: GAS_SHARE },
    },
    { what: 'makers and takers of their own: gas of a match', unit: 'gas', values: gasOf(rounds) },
    ratio('of their own / six accounts', [perBlock(rounds), perBlock(spot)]),
  ]
}

const gasOf = (rounds: readonly Together[]): number[] => rounds.map((each) => each.gasOfMatch)

export function futureRowsOf(rounds: readonly Together[], spot: readonly Together[]): Row[] {
  const gasShare = (all: readonly Together[]) => all.map((each) => 100 * each.gasShare)
  const what = `future, one maker, ${TAKERS} takers`
  return [
    {
      what: `${what}: settled in a block`,
      unit: 'matches',
      values: rounds.map((each) => each.perBlock),
    },
    { what: `${what}: gas of the block they use`, unit: '%', values: gasShare(rounds) },
    { what: 'future: gas of a match', unit: 'gas', values: gasOf(rounds) },
    ratio('future / spot, gas of a match', [gasOf(rounds), gasOf(spot)]),
    ratio('future / spot, by gas', [gasShare(rounds), gasShare(spot)], { atLeast: 0.75 }),
  ]
}

/** A match of the perpetual takes more gas, so blocks are compared by the gas that they use. */
export function perpRowsOf(rounds: readonly Together[], spot: readonly Together[]): Row[] {
  const gasShare = (all: readonly Together[]) => all.map((each) => 100 * each.gasShare)
  return [
    {
      what: 'perpetual, one maker: settled in a block',
      unit: 'matches',
      values: rounds.map((each) => each.perBlock),
    },
    {
      what: 'perpetual, one maker: gas of the block they use',
      unit: '%',
      values: gasShare(rounds),
    },
    { what: 'perpetual: gas of a match', unit: 'gas', values: gasOf(rounds) },
    ratio('perpetual / spot, gas of a match', [gasOf(rounds), gasOf(spot)]),
    ratio('perpetual / spot, by gas', [gasShare(rounds), gasShare(spot)], { atLeast: 0.75 }),
  ]
}
