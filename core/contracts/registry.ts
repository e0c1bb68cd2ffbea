import type { Address } from '../action.js'
import { assert } from '../assert.js'
import type { ContractType, Market } from '../model/market.js'
import type { Contract, TradingRules } from './contract.js'
import { deliverable } from './deliverable.js'
import { future } from './future.js'
import { perpetual } from './perpetual.js'
import { spot } from './spot.js'

/** The record of every contract type, by its name. */
const contracts = new Map<string, Contract>(
  [spot, perpetual, future, deliverable].map((each) => [each.type, each]),
)

/** Adds a contract type for as long as this process runs; one that is known is replaced. */
export const addContract = (contract: Contract): void => {
  contracts.set(contract.type, contract)
}

/** Whether there is a record of the contract type. */
export const isContractType = (type: unknown): type is ContractType =>
  typeof type === 'string' && contracts.has(type)

/** The record of a market's contract type. An unknown type is a broken invariant: no row and no registration has one. */
export function contractOf({ contractType }: Pick<Market, 'contractType'>): Contract {
  const contract = contracts.get(contractType)
  assert(contract !== undefined, `no record of the contract type ${contractType}`)
  return contract
}

/**
 * The markets that an account under a manager may trade: those of the manager; of one that no market names, as an earlier one of the
 * spot markets, those that ask for no manager.
 */
export function marketsUnder<Row extends Pick<Market, 'contractType' | 'marginManagerAddress'>>(
  markets: readonly Row[],
  manager: Address,
): readonly Row[] {
  const own = markets.filter(({ marginManagerAddress }) => marginManagerAddress === manager)
  if (own.length > 0) return own
  return markets.filter((market) => tradingOf(market).admission === undefined)
}

/** How orders of a market are judged, matched and settled. */
export const tradingOf = (market: Pick<Market, 'contractType'>): TradingRules =>
  contractOf(market).trading
