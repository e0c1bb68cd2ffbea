import type { Blame, MatchSide } from '../../core/contracts/claims.js'
import { venueFaultOf } from '../../core/contracts/faults.js'
import { tradingOf } from '../../core/contracts/registry.js'
import { isUnnamed, OUT_OF_GAS, revertFields } from '../../core/revert.js'
import type { MatchCall } from './calldata.js'
import { readMatch, type MarketMatch } from './registry.js'
import {
  isFeeAccount,
  isInCustody,
  isPlainKey,
  isRecipient,
  isSolvent,
  isUnderManagerOf,
  isUnderOpenManager,
  isUnpriced,
  isWithinLimit,
  keepsNonce,
  maySign,
  mayHoldAssets,
  type Leg,
  type SideCheck,
  type SideReads,
} from './side-checks.js'

/**
 * What a refused match is blamed on: the side that by itself cannot take part while the other can, both when neither
 * can, or the venue. Undefined when the chain shows nothing against either side, when there are several makers, and when
 * the chain cannot be read.
 */
export type FindGuilty = (match: MatchCall, revert: string) => Promise<Blame | undefined>

export type GuiltyDeps = SideReads & {
  readonly markets: Parameters<typeof readMatch>[1]
}

/** A match of one taker and one maker. */
interface Judged {
  readonly reads: SideReads
  readonly read: MarketMatch
  readonly legs: Readonly<Record<MatchSide, Leg>>
}

export function createGuiltyFinder({ markets, ...reads }: GuiltyDeps): FindGuilty {
  return async (match, stored) => {
    const read = readMatch(match, markets)
    const legs = read && legsOf(match, read)
    if (read === undefined || legs === undefined) return undefined
    const { revert } = revertFields(stored)
    try {
      return await judge({ reads, read, legs }, revert)
    } catch {
      // Blame needs proof, and a failed read proves nothing against a side. These reverts are the venue's without such proof.
      return OF_ACCOUNTS.has(revert) ? 'venue' : undefined
    }
  }
}

/** Undefined unless there is one maker. */
function legsOf(
  match: MatchCall,
  { market, contract, terms }: MarketMatch,
): Judged['legs'] | undefined {
  const [taker, maker] = match.actions
  const [fill] = terms.fillDetails
  if (match.actions.length !== 2 || !taker || !maker || fill === undefined) return undefined
  const legOf = (side: MatchSide, action: Leg['action']): Leg => ({
    ...{ market, action, terms, side },
    amount: fill.amountFilled,
    solvency: contract.solvency,
  })
  return { taker: legOf('taker', taker), maker: legOf('maker', maker) }
}

/** Reverts that come from what an account may hold, or from the account that collects the fees. */
const OF_ACCOUNTS: ReadonlyMap<string, SideCheck> = new Map([
  ['NotEnoughSubIdOrAssetAllowances', isRecipient],
  ['MW_UnknownManager', mayHoldAssets],
])

/** The account of another manager is at fault only if that one is: under the market's own it trades on. */
const ofManager = (revert: string): SideCheck =>
  revert === 'BM_AdjustmentsPaused' ? isUnderOpenManager : isUnderManagerOf

async function judge(judged: Judged, revert: string): Promise<Blame | undefined> {
  // A mined batch that was refused as a whole: the right to send it was taken away after its simulation. The name is not in
  // core/contracts/faults.ts, because matchers judge by that table, and a new name there would change replay.
  if (revert === 'BE_OnlyOperator') return 'venue'
  const scope = venueFaultOf(tradingOf(judged.read.market), revert)
  if (scope === 'deployment' || scope === 'price') return 'venue'
  if (scope === 'holdings') return (await blameBy(judged, [isUnpriced])) ?? 'both'
  // An account may be under a manager that is paused or capped while the market's own is not.
  const check = scope === 'manager' ? ofManager(revert) : OF_ACCOUNTS.get(revert)
  if (check !== undefined) return (await blameBy(judged, [check])) ?? 'venue'
  return blameBy(judged, checksFor(revert, judged.read))
}

/** The checks that a side must pass to be able to take part, as far as the revert may come from them. */
function checksFor(revert: string, { contract }: MarketMatch): readonly SideCheck[] {
  const further: readonly (readonly [boolean, SideCheck])[] = [
    [contract.solvency.reverts.includes(revert), isSolvent],
    // The signature of a plain key was checked when the order came, and stays valid; a contract may change its answer.
    // Only a contract at the signer runs code that is not the venue's, and it may end in any way.
    [
      revert === 'OV_InvalidSignature' || isUnnamed(revert) || revert === OUT_OF_GAS_NAME,
      isPlainKey,
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

/** The sides that fail a check; undefined when both pass all. */
async function blameBy(
  { reads, legs }: Judged,
  checks: readonly SideCheck[],
): Promise<Blame | undefined> {
  const passes = async (leg: Leg): Promise<boolean> =>
    (await Promise.all(checks.map((check) => check(reads, leg)))).every((passed) => passed)
  const [taker, maker] = await Promise.all([passes(legs.taker), passes(legs.maker)])
  if (taker && maker) return undefined
  if (!taker && !maker) return 'both'
  return taker ? 'maker' : 'taker'
}
