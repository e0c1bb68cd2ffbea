import type { Address, Hex } from '../../core/action.js'
import { venueFaultOf } from '../../core/contracts/faults.js'
import { tradingOf } from '../../core/contracts/registry.js'
import type { Blame, MatchSide } from '../../core/model/match.js'
import { isUnnamed, OUT_OF_GAS, revertFields } from '../../core/revert.js'
import type { ChainClient } from '../reads/client.js'
import { throwDefect } from '../reads/read-failure.js'
import { bytesToHex } from '../signing/keys.js'
import { createActionHasher, type ActionHasher } from '../signing/verify-signature.js'
import type { MatchCall } from './calldata.js'
import { createFailedStateReader, type FailedAt, type FailedState } from './failed-state.js'
import { readMatch, type MarketMatch } from './registry.js'
import {
  isCode,
  isFeeAccount,
  isInCustody,
  isRecipient,
  isSolvent,
  isUnderManagerOf,
  isUnderOpenManager,
  isUnpriced,
  isWithinLimit,
  keepsNonce,
  keepsSignature,
  maySign,
  mayHoldAssets,
  type MatchSideChecks,
  type SideCheck,
  type SideReads,
} from './side-checks.js'

/** What the chain shows of a match that failed. */
export interface Findings {
  /** The sides that by themselves could not take part in the state in which it failed, or the venue; absent without proof. */
  readonly guilty?: Blame
  /**
   * Signers of the match that were code in that state: contracts, and keys that delegated to one (EIP-7702); the others were
   * plain keys. Absent when the state is not known.
   */
  readonly codeSigners?: readonly Address[]
}

/**
 * Finds what is at fault for a failed match in the state in which it failed (SET-021, SET-022). Without `at` that state is not
 * known any more; neither is it when the node does not show it, when the chain cannot be read, and of a match of several
 * makers: then only the revert's name counts. Rejects with a defect of this program alone, which proves nothing either.
 */
export type FindGuilty = (
  match: MatchCall,
  revert: string,
  at: FailedAt | undefined,
) => Promise<Findings>

export interface GuiltyDeps {
  /** A `long` client (failed-state.ts). */
  readonly client: ChainClient
  readonly deployment: SideReads['deployment'] & { readonly chainId: number }
  readonly markets: Parameters<typeof readMatch>[1]
  /** Who sends matches. */
  readonly sender: Address
}

/** A match of one taker and one maker in the state in which it failed. */
interface GuiltyCase {
  readonly deps: GuiltyDeps
  readonly state: FailedState | undefined
  readonly read: MarketMatch
  readonly legs: Readonly<Record<MatchSide, MatchSideChecks>>
}

const NOTHING: Findings = {}

export function createGuiltyFinder(deps: GuiltyDeps): FindGuilty {
  const { client, deployment, markets } = deps
  const { chainId, matching } = deployment
  const hasher = createActionHasher({ chainId, verifyingContract: matching })
  const readFailedState = createFailedStateReader({ client, chainId })
  return async (match, stored, at) => {
    const read = readMatch(match, markets)
    const legs = read && legsOf(match, read, hasher)
    if (read === undefined || legs === undefined) return NOTHING
    const { revert } = revertFields(stored)
    try {
      const state = at && (await readFailedState(match, at))
      const judged: GuiltyCase = { deps, state, read, legs }
      const [guilty, codeSigners] = await Promise.all([judge(judged, revert), readCode(judged)])
      return { ...(guilty !== undefined && { guilty }), ...(codeSigners && { codeSigners }) }
    } catch (error) {
      throwDefect(error)
      // Blame needs proof, and a failed read proves nothing against a side.
      const guilty = venueWithoutProof(read, revert)
      return guilty === undefined ? NOTHING : { guilty }
    }
  }
}

/** These reverts are the venue's where nothing is known of the accounts. */
function venueWithoutProof({ market }: MarketMatch, revert: string): Blame | undefined {
  const scope = venueFaultOf(tradingOf(market), revert)
  const isVenue = revert === 'BE_OnlyOperator' || scope === 'deployment' || scope === 'price'
  return isVenue || OF_ACCOUNTS.has(revert) ? 'venue' : undefined
}

/** Undefined unless there is one maker. */
function legsOf(
  match: MatchCall,
  { market, contract, terms }: MarketMatch,
  hasher: ActionHasher,
): GuiltyCase['legs'] | undefined {
  const [taker, maker] = match.actions
  const [ofTaker, ofMaker] = match.signatures
  const [fill] = terms.fillDetails
  if (match.actions.length !== 2 || !taker || !maker || fill === undefined) return undefined
  const legOf = (
    side: MatchSide,
    action: MatchSideChecks['action'],
    signature: Hex = '0x',
  ): MatchSideChecks => ({
    market,
    action,
    terms,
    side,
    signature,
    amount: fill.amountFilled,
    solvency: contract.solvency,
    digest: bytesToHex(hasher.digest(action)),
  })
  return { taker: legOf('taker', taker, ofTaker), maker: legOf('maker', maker, ofMaker) }
}

/** Reverts that come from what an account may hold, or from the account that collects the fees. */
const OF_ACCOUNTS: ReadonlyMap<string, SideCheck> = new Map([
  ['NotEnoughSubIdOrAssetAllowances', isRecipient],
  ['MW_UnknownManager', mayHoldAssets],
])

/** The account of another manager is at fault only if that one is: under the market's own it trades on. */
const ofManager = (revert: string): SideCheck =>
  revert === 'BM_AdjustmentsPaused' ? isUnderOpenManager : isUnderManagerOf

async function judge(judged: GuiltyCase, revert: string): Promise<Blame | undefined> {
  // A mined batch that was refused as a whole: the right to send it was taken away after its simulation. The name is not in
  // core/contracts/faults.ts, because matchers judge by that table, and a new name there would change replay.
  if (revert === 'BE_OnlyOperator') return 'venue'
  const scope = venueFaultOf(tradingOf(judged.read.market), revert)
  if (scope === 'deployment' || scope === 'price') return 'venue'
  if (scope === 'holdings') return blameBy(judged, [isUnpriced])
  // An account may be under a manager that is paused or capped while the market's own is not.
  const check = scope === 'manager' ? ofManager(revert) : OF_ACCOUNTS.get(revert)
  if (check !== undefined) return (await blameBy(judged, [check])) ?? 'venue'
  return blameBy(judged, checksFor(revert, judged.read))
}

/** The checks that a side must pass to be able to take part, as far as the revert may come from them. */
function checksFor(revert: string, { contract }: MarketMatch): readonly SideCheck[] {
  const further: readonly (readonly [boolean, SideCheck])[] = [
    [contract.solvency.reverts.includes(revert), isSolvent],
    // Only code at the signer runs code that is not the venue's, and it may end in any way.
    [
      revert === 'OV_InvalidSignature' || isUnnamed(revert) || revert === OUT_OF_GAS_NAME,
      keepsSignature,
    ],
    [revert === 'TM_FillLimitCrossed', isWithinLimit],
    [revert === 'TM_InvalidNonce', keepsNonce],
    [revert === 'AC_CannotTransferAssetToOneself', isNoFeeAccount],
  ]
  const concerned = further.flatMap(([isConcerned, check]) => (isConcerned ? [check] : []))
  return [isInCustody, maySign, ...concerned]
}

const OUT_OF_GAS_NAME = revertFields(OUT_OF_GAS).revert
const isNoFeeAccount: SideCheck = async (reads, leg) => !(await isFeeAccount(reads, leg))

/** The sides that fail a check; undefined when both pass all, or the state is not known. */
async function blameBy(
  judged: GuiltyCase,
  checks: readonly SideCheck[],
): Promise<Blame | undefined> {
  const { legs, state } = judged
  if (state === undefined) return undefined
  const fails = async (leg: MatchSideChecks): Promise<boolean> => {
    const each = await Promise.all(checks.map((check) => failsBy(judged, state, check, leg)))
    return each.some((failed) => failed)
  }
  const [taker, maker] = await Promise.all([fails(legs.taker), fails(legs.maker)])
  if (taker && maker) return 'both'
  if (!taker && !maker) return undefined
  return taker ? 'taker' : 'maker'
}

/** Whether the side certainly did not pass the check where the match failed. */
async function failsBy(
  { deps }: GuiltyCase,
  { before, after, placed, isShared }: FailedState,
  check: SideCheck,
  leg: MatchSideChecks,
): Promise<boolean> {
  const passes = (client: ChainClient) => check({ ...deps, client }, leg)
  const isOfSigner = check === keepsSignature
  // What an earlier match of the transaction has changed is in neither state.
  if (isShared && !isOfSigner) return false
  if (await passes(before)) return false
  return (
    after === undefined || (isOfSigner && placed.has(leg.action.signer)) || !(await passes(after))
  )
}

/** The signers that were code where the match failed. */
async function readCode({ state, legs }: GuiltyCase): Promise<Address[] | undefined> {
  if (state === undefined) return undefined
  const signers = [...new Set([legs.taker.action.signer, legs.maker.action.signer])]
  const areCode = await Promise.all(
    signers.map((signer) => isCode({ client: state.before }, signer)),
  )
  return signers.filter((_, i) => areCode[i])
}
