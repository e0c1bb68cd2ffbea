import type { MatchTerms } from '../../core/contracts/claims.js'
import type { Market } from '../../core/model/market.js'
import { decodeTradeData } from '../../core/entry/read-action.js'
import type { MatchCall } from './calldata.js'
import type { ChainContract } from './chain-contract.js'
import { future } from './future.js'
import { perpetual } from './perpetual.js'
import { spot } from './spot.js'

/** One line for each contract type. A market of another type is neither followed nor settled. */
const contracts = new Map<string, ChainContract>([
  ['spot', spot],
  ['perpetual', perpetual],
  ['future', future],
])

/** Adds a contract type for as long as this process runs; one that is known is replaced. */
export const addChainContract = (type: string, contract: ChainContract): void => {
  contracts.set(type, contract)
}

/** The record of the market's contract type; undefined where there is none. */
export const chainContractOf = ({ contractType }: Market): ChainContract | undefined =>
  contracts.get(contractType)

/** A match with the market that it belongs to. */
export interface MarketMatch {
  readonly market: Market
  readonly contract: ChainContract
  readonly terms: MatchTerms
}

/**
 * Finds the market of a match by the trade module and the instrument that the taker has signed. Undefined when no
 * market has both, or the market's contract type is unknown here.
 */
export function readMatch(
  { actions: [taker], orderData }: MatchCall,
  markets: readonly Market[],
): MarketMatch | undefined {
  if (taker === undefined) return undefined
  const decoded = decodeTradeData(taker.data)
  if ('refusal' in decoded) return undefined
  const { asset, subId, isBid } = decoded.data
  const market = markets.find(
    (candidate) =>
      candidate.tradeModuleAddress === taker.module &&
      candidate.assetAddress === asset &&
      candidate.subId === subId,
  )
  if (market === undefined) return undefined
  const contract = chainContractOf(market)
  if (contract === undefined) return undefined
  return { market, contract, terms: { ...orderData, takerIsBuyer: isBid } }
}
