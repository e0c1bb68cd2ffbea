import type { MatchCall } from '../chain/contracts/calldata.js'
import type { Address } from '../core/action.js'
import type { Blame } from '../core/model/match.js'
import { mulDivCeil } from '../core/money.js'
import { NOT_TRIED, OUT_OF_GAS, UNKNOWN_REVERT } from '../core/revert.js'

/** A signer that is code, with the owner for whom it signs. */
interface CodeSigner {
  readonly signer: Address
  readonly owner: Address
}

/** Gas that was spent on a match that failed through a signer that is code. */
export interface Loss {
  readonly gas: bigint
  /** Absent where either of two may be to blame: then it counts in the total alone. */
  readonly by?: CodeSigner
}

/** Gas that signers that are code have lost within the last hour. */
export interface LostGas {
  /** Counts each settlement once, however often it is told. */
  note(settlementId: string, losses: readonly Loss[]): void
  /** Whether this signer has lost its budget of the hour for this owner. */
  over(of: CodeSigner): boolean
  /** What was lost in all, also by those that are not kept. */
  total(): bigint
  /** Those of most, the most first. */
  top(most: number): (CodeSigner & Pick<Loss, 'gas'>)[]
  /** Unix milliseconds from which on it counts: it is in memory, and begins anew with the process. */
  readonly sinceMs: number
}

export interface LostGasOptions {
  readonly budget: bigint
  readonly facts: { readonly gasLost: (settlementId: string, loss: Loss) => void }
  /** Unix milliseconds. */
  readonly nowMs?: () => number
}

/** About four matches of ordinary wallets at their limit. */
export const LOST_GAS_PER_HOUR = 3_000_000n

const MINUTE_MS = 60_000
const MINUTES = 60
/** Signers with owners that are kept; a full table forgets the one that has lost least. */
export const MAX_SIGNERS = 4_096
/** Settlements that are remembered as counted. */
const MAX_COUNTED = 16_384

/** Gas by minute; at most those of an hour are kept. */
class Hour {
  private readonly minutes = new Map<number, bigint>()

  add(minute: number, gas: bigint): void {
    this.minutes.set(minute, (this.minutes.get(minute) ?? 0n) + gas)
  }

  sum(minute: number): bigint {
    let sum = 0n
    for (const [at, gas] of this.minutes) {
      if (at <= minute - MINUTES) this.minutes.delete(at)
      else sum += gas
    }
    return sum
  }
}

interface SignerHour extends CodeSigner {
  readonly hour: Hour
}

export function createLostGas({ budget, facts, nowMs = Date.now }: LostGasOptions): LostGas {
  const kept = new Map<string, SignerHour>()
  const all = new Hour()
  const counted = new Set<string>()
  const minute = () => Math.floor(nowMs() / MINUTE_MS)
  const keyOf = ({ signer, owner }: CodeSigner) => `${signer} ${owner}`

  function makeRoom(): void {
    const now = minute()
    let least: { key: string; gas: bigint } | undefined
    for (const [key, { hour }] of kept) {
      const gas = hour.sum(now)
      if (gas === 0n) kept.delete(key)
      else if (least === undefined || gas < least.gas) least = { key, gas }
    }
    if (kept.size >= MAX_SIGNERS && least !== undefined) kept.delete(least.key)
  }

  function count({ gas, by }: Loss): void {
    all.add(minute(), gas)
    if (by === undefined) return
    const key = keyOf(by)
    if (!kept.has(key) && kept.size >= MAX_SIGNERS) makeRoom()
    const one = kept.get(key) ?? { ...by, hour: new Hour() }
    kept.set(key, one)
    one.hour.add(minute(), gas)
  }

  return {
    sinceMs: nowMs(),
    note(settlementId, losses) {
      if (losses.length === 0 || counted.has(settlementId)) return
      counted.add(settlementId)
      const [oldest] = counted
      if (counted.size > MAX_COUNTED && oldest !== undefined) counted.delete(oldest)
      for (const loss of losses) {
        count(loss)
        facts.gasLost(settlementId, loss)
      }
    },
    over: (of) => (kept.get(keyOf(of))?.hour.sum(minute()) ?? 0n) >= budget,
    total: () => all.sum(minute()),
    top(most) {
      const now = minute()
      return [...kept.values()]
        .map(({ signer, owner, hour }) => ({ signer, owner, gas: hour.sum(now) }))
        .filter(({ gas }) => gas > 0n)
        .sort((a, b) => (a.gas < b.gas ? 1 : -1))
        .slice(0, most)
    },
  }
}

/** A match that failed on the chain. */
interface FailedMatch {
  readonly revert: string
  /** What it used of its transaction. */
  readonly gas: bigint
  readonly guilty?: Blame
  readonly codeSigners?: readonly Address[]
}

/**
 * What signers that are code have lost of the match's gas: equal parts of it, rounded up, for each side that is proven to be
 * to blame. Without proof it is that of the only one; of two neither is charged, because the guilty one costs nothing to
 * make anew, and could use up the budget of an honest one.
 */
export function lossesOf(
  { actions }: Pick<MatchCall, 'actions'>,
  { revert, gas, guilty, codeSigners = [] }: FailedMatch,
): Loss[] {
  if (revert === NOT_TRIED) return []
  const sides = blamedSides(guilty, revert).flatMap((at) => actions[at] ?? [])
  const [one, other] = sides.filter(({ signer }) => codeSigners.includes(signer)).map(signerOf)
  if (one === undefined) return []
  if (other === undefined || (one.signer === other.signer && one.owner === other.owner)) {
    return [{ gas, by: one }]
  }
  if (guilty === undefined) return [{ gas }]
  const half = mulDivCeil(gas, 1n, 2n)
  return [one, other].map((by) => ({ gas: half, by }))
}

const signerOf = ({ signer, owner }: CodeSigner): CodeSigner => ({ signer, owner })

const INVALID_SIGNATURE = 'OV_InvalidSignature'

/** Where the chain does not show who is to blame, what only a signature may cause may be either's fault. */
function blamedSides(guilty: Blame | undefined, revert: string): readonly number[] {
  const bySignature = [INVALID_SIGNATURE, OUT_OF_GAS, UNKNOWN_REVERT].includes(revert)
  if (guilty === undefined) return bySignature ? [0, 1] : []
  return { taker: [0], maker: [1], both: [0, 1], venue: [] }[guilty]
}
