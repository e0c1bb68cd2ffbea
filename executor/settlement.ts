import { decodeMatch, matchCallsOf, type MatchCall } from '../chain/contracts/calldata.js'
import { readMatch, type MarketMatch } from '../chain/contracts/registry.js'
import type { OpenTransaction } from '../core/transaction-journal.js'
import type { SenderHead } from '../chain/reads/blocks.js'
import type { Address, Hex } from '../core/action.js'
import { assert } from '../core/assert.js'
import { decodeTradeData } from '../core/entry/read-action.js'
import type { Market } from '../core/model/market.js'

/** What has to be known of a match to tell whether it conflicts with another one. */
export interface SettlementTerms {
  /** Calldata of verifyAndMatch. */
  readonly call: Hex
  /** The subaccounts that trade. The fee account is left out, because nothing is taken from it. */
  readonly accountIds: readonly bigint[]
  /** Undefined when the market is unknown: then the match may take anything from its accounts. */
  readonly match: MarketMatch | undefined
}

/** A side of a match, as its order says. */
export interface MatchParty {
  readonly owner: Address
  readonly signer: Address
  /** All that the order asks for, in units of the market's amount scale. */
  readonly desired: bigint
}

/** A requested settlement, under its id in the journal. */
export interface Settlement extends SettlementTerms {
  readonly intentId: string
  readonly fingerprint: Hex
  /** The taker first. */
  readonly parties: readonly MatchParty[]
}

export const partiesOf = ({ actions }: MatchCall): MatchParty[] =>
  actions.map(({ owner, signer, data }) => {
    const decoded = decodeTradeData(data)
    return { owner, signer, desired: 'data' in decoded ? decoded.data.desiredAmount : 0n }
  })

export function termsOf(match: MatchCall, call: Hex, markets: readonly Market[]): SettlementTerms {
  const accountIds = [...new Set(match.actions.map(({ subaccountId }) => subaccountId))]
  return { call, accountIds, match: readMatch(match, markets) }
}

/** The matches of a journaled transaction, decoded from its signed bytes. */
export function termsOfTransaction(
  { attempts, evmNonce }: OpenTransaction,
  markets: readonly Market[],
): SettlementTerms[] {
  const newest = attempts.at(-1)
  assert(newest !== undefined, `nothing was signed for nonce ${evmNonce}`)
  return matchCallsOf(newest.raw).map((call) => termsOf(decodeMatch(call), call, markets))
}

/** The result of submitting a new settlement. `unavailable`: not sent yet, the caller may ask again. */
export type SubmitResult =
  | { readonly kind: 'sent'; readonly transaction: OpenTransaction }
  | RefusedSettlement
  | { readonly kind: 'unavailable'; readonly why: string }

/** The chain refuses the match, and nothing was sent. */
export interface RefusedSettlement {
  readonly kind: 'refused'
  readonly revert: string
  /** Where an account lacks something: those of which matches of other markets may have taken it lately. */
  readonly spentElsewhere?: readonly bigint[]
  /** The block on whose state it was simulated; absent when it was refused before this process started. */
  readonly onBlock?: Hex
}

/** A settlement in the queue. It is answered once; later calls of `resolve` and `reject` have no effect. */
export interface QueuedSettlement {
  readonly settlement: Settlement
  readonly resolve: (submission: SubmitResult) => void
  readonly reject: (error: Error) => void
  /** The settlement is skipped until the chain has mined this nonce. */
  waitsFor?: number
  /** Until then it is sent only together with another one of the same accounts; monotonic milliseconds. */
  sharesUntilMs?: number
  /** Whether its fee pays less than its gas costs, as of the last group. */
  isDust?: boolean
  /** How often it was deferred to a later block. */
  deferrals: number
}

/** What the chain says about a match; `gas` is what it used. `untried`: the call had too little gas left to try it. */
export type ChainVerdict =
  | { readonly kind: 'passes'; readonly gas: bigint }
  | { readonly kind: 'reverts'; readonly revert: string }
  | { readonly kind: 'untried' }

export interface SimulationResult {
  /** Whether every match in `ahead` passed; if not, the verdicts mean nothing. */
  readonly aheadPassed: boolean
  /** By position. */
  readonly verdicts: readonly ChainVerdict[]
}

export interface SimulatedMatch {
  readonly match: SettlementTerms
  readonly gas: bigint
  /** Present where a signer is code. */
  readonly code?: CodeGas
}

/** How much gas a match that code has signed may use. */
export interface CodeGas {
  /** What it used after the matches of its own transaction alone; undefined where it passes only after others. */
  readonly alone: bigint | undefined
}

/** One transaction that settles the first `count` matches. */
export interface PackedTransaction {
  readonly count: number
  readonly to: Address
  readonly data: Hex
  readonly gasLimit: bigint
  /** Whether no further match would fit. */
  readonly isFull: boolean
}

/** How matches are packed into transactions: many in each, or one. */
export interface MatchPacker {
  /** The most matches of one simulation. */
  readonly maxGroup: number
  /** The most matches in flight that a simulation can put ahead; 0 when each match is simulated by itself. */
  readonly maxAhead: number
  /**
   * Simulates the matches on the state of a block: in batches each on what `ahead` and the matches before it leave.
   * Rejects with ChainUnreachable.
   */
  simulate(
    head: SenderHead,
    matches: readonly SettlementTerms[],
    ahead: readonly SettlementTerms[],
  ): Promise<SimulationResult>
  /** The next transaction for matches that passed, all signed by plain keys, or all by the same code; it settles at least one. */
  pack(matches: readonly SimulatedMatch[]): PackedTransaction
}
