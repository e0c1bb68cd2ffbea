import type { Address } from '../action.js'

declare const contractOwned: unique symbol

/** A value that only its contract's record looks inside. The mark exists in types alone, and tells one such value from another. */
interface ContractOwned<Name extends string> {
  readonly [contractOwned]?: Name
}

/** What the chain shows of an account at one block, in the terms of the contract. */
export type AccountFacts = ContractOwned<'AccountFacts'>

/** What the chain shows of a market at one block, in the terms of the contract. */
export type MarketFacts = ContractOwned<'MarketFacts'>

/** What the chain shows of an account to its reader, besides what the engine needs, in the terms of the contract. */
export type PositionFacts = ContractOwned<'PositionFacts'>

/** What the engine keeps of an account's means; mutable, and only by its contract's record. */
export type RiskAccount = ContractOwned<'RiskAccount'>

/** A risk account as a checkpoint keeps it; never changed afterwards. */
export type RiskSnapshot = ContractOwned<'RiskSnapshot'>

/** What one match takes from one of its orders. */
export type Cost = ContractOwned<'Cost'>

/** Facts of a market with the block of which all of them are true. */
export interface MarketObservation<Facts = MarketFacts> {
  readonly facts: Facts
  readonly blockNumber: bigint
  /** Unix seconds. */
  readonly blockTimeSec: number
  /** When the read began, unix milliseconds of the reader's clock: a fact is at least so old. */
  readonly readAtMs: number
}

/** What the chain shows of a subaccount at one block: whose it is, and the facts that its contract reads. */
export interface AccountObservation<Facts = AccountFacts> {
  readonly subaccountId: bigint
  /** The part that the market's contract type declares and reads. */
  readonly facts: Facts
  /** The owner that the matching contract has recorded; absent while that contract does not hold the account. */
  readonly custodyOwner?: Address
  /** The owner has asked to take the account out of the matching contract's hands. */
  readonly leaving: boolean
  /** The block of which all of this is true, and its time in unix seconds. */
  readonly blockNumber: bigint
  readonly blockTimeSec: number
}
