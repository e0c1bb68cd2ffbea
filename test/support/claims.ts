import type { ClaimReads, ReadCapacities } from '../../chain/contracts/read-claims.js'
import type { MarketMatch } from '../../chain/contracts/registry.js'
import { spot } from '../../chain/contracts/spot.js'
import type { CapacityClaim } from '../../core/contracts/claims.js'
import { quoteE18 } from '../../core/money.js'
import type { SettlementTerms } from '../../executor/settlement.js'
import { aMarket } from './builders.js'

const claimsOf = ({ contract, market, terms }: MarketMatch) =>
  contract.claimsOf(market, terms, undefined)

/** What a match claims that needs no facts of its market. */
export const claimsOfTerms = ({ match }: SettlementTerms): readonly CapacityClaim[] | undefined =>
  match && claimsOf(match)

/** Reads of a block in which the capacities are as given, and no market has facts. */
export const readsWith = (capacities: ReadCapacities): ClaimReads => ({
  claims: (matches) => Promise.resolve(matches.map(claimsOf)),
  capacities,
})

/** A match that claims just this. */
export const matchClaiming = (...claims: readonly CapacityClaim[]): MarketMatch => ({
  market: aMarket(),
  contract: { ...spot, claimsOf: () => claims },
  terms: { takerAccount: 0n, takerIsBuyer: true, takerFee: quoteE18(0n), fillDetails: [] },
})
