import type { SettlementOutcome } from '../../../core/model/command.js'
import type { Match } from '../../../core/model/match.js'
import {
  hold,
  naiveCancel,
  naiveOpen,
  naiveStatus,
  type NaiveMarket,
  type NaiveOrder,
} from './naive-market.js'

/** How far those are trusted that are code: the rules of their windows once more, as lists that are searched afresh. */

export type NaiveMatch = Match & {
  done: boolean
  block?: bigint
  /** The sides that are code, whose places it takes. */
  readonly by: readonly {
    readonly signer: string
    readonly owner: string
    readonly isTrial: boolean
  }[]
}

/** What is known of a signer with one owner, or of a signer alone. */
export interface NaiveTrust {
  readonly signer: string
  readonly owner?: string
  credit: bigint
  failures: number
  /** How many of them were proven. */
  proven: number
  failedAtMs: number
}

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS

const isCode = (market: NaiveMarket, { order }: NaiveOrder): boolean =>
  order.signedByCode === true || market.code.includes(order.signer)

/** Without an owner: of the signer alone. */
function trustOf(market: NaiveMarket, signer: string, owner?: string): NaiveTrust {
  const known = market.trust.find((it) => it.signer === signer && it.owner === owner)
  if (known !== undefined) {
    if (market.nowMs >= known.failedAtMs + 2 * DAY_MS) known.failures = known.proven = 0
    return known
  }
  const fresh = { signer, credit: 0n, failures: 0, proven: 0, failedAtMs: 0 }
  const it: NaiveTrust = owner === undefined ? fresh : { ...fresh, owner }
  market.trust.push(it)
  return it
}

const WAITS_SEC = [0, 10, 40, 160, 640, 2_560, 10_240, 40_960, 86_400]
const endOf = ({ failures, failedAtMs }: NaiveTrust): number =>
  failures === 0 ? 0 : failedAtMs + (WAITS_SEC[failures] ?? 86_400) * 1_000

const shutUntil = (market: NaiveMarket, { order }: NaiveOrder): number =>
  Math.max(endOf(trustOf(market, order.signer, order.owner)), endOf(trustOf(market, order.signer)))

function sizeFor(market: NaiveMarket, signer: string, owner: string): number {
  if (market.gasCost === 0n) return 1
  let size = 1
  for (let left = trustOf(market, signer, owner).credit; left >= 4n * market.gasCost;) {
    left -= 4n * market.gasCost
    if (size < 1_000) size += 1
  }
  return size
}

const isGrown = (market: NaiveMarket, { order }: NaiveOrder): boolean =>
  sizeFor(market, order.signer, order.owner) > 1

const find = (market: NaiveMarket, orderId: string): NaiveOrder =>
  market.orders.find(({ order }) => order.orderId === orderId) as NaiveOrder

/** Hides or cancels an order whose signer waits after a failure; true when it does. */
export function isShut(market: NaiveMarket, it: NaiveOrder): boolean {
  if (!isCode(market, it) || market.nowMs >= shutUntil(market, it)) return false
  giveUp(it, shutUntil(market, it))
  return true
}

function giveUp(it: NaiveOrder, untilMs: number): void {
  if (it.order.timeInForce === undefined) hold(it, 'signer_waits', untilMs)
  else naiveCancel(it, 'signer_waits')
}

/** Of all that code has signed together; one that has paid counts those of its owner. */
function pollAfter(market: NaiveMarket, it: NaiveOrder): number {
  const live = market.orders.filter((each) => isLive(each))
  if (!isGrown(market, it)) {
    return Math.max(1_000, 10 * live.filter((each) => isCode(market, each)).length)
  }
  return 1_000 + 10 * live.filter(({ order }) => order.owner === it.order.owner).length
}

const isLive = (it: NaiveOrder): boolean =>
  it.pending > 0n || ['active', 'matching'].includes(naiveStatus(it))

/** Takes the one of two orders out of the way for which there is no room; true when there is one. */
export function lacksRoom(market: NaiveMarket, incoming: NaiveOrder, best: NaiveOrder): boolean {
  const flying = market.matches.filter(({ done, by }) => !done && by.length > 0)
  for (const it of [incoming, best]) {
    if (!isCode(market, it)) continue
    if (isShut(market, it)) return true
    const { signer, owner } = it.order
    const own = flying.filter(({ by }) =>
      by.some((one) => one.signer === signer && one.owner === owner),
    )
    const trials = flying.filter(({ by }) => by.some(({ isTrial }) => isTrial))
    const pollMs = market.nowMs + pollAfter(market, it)
    if (!isGrown(market, it)) {
      const hour = Math.floor(market.nowMs / HOUR_MS)
      const lost = market.lost.filter(({ atMs }) => Math.floor(atMs / HOUR_MS) === hour)
      const points = lost.reduce((sum, each) => sum + each.points, 0)
      if (points + 10 * (trials.length + 1) > 600) {
        giveUp(it, pollMs)
        return true
      }
      const ofOwner = trials.some(({ by }) => by.some((one) => one.isTrial && one.owner === owner))
      if (trials.length >= 8 || ofOwner) {
        hold(it, 'signer_waits', pollMs)
        return true
      }
    }
    if (own.length >= sizeFor(market, signer, owner)) {
      hold(it, 'signer_waits', pollMs)
      return true
    }
  }
  return false
}

/** Whose places a match takes. */
export function placesOf(market: NaiveMarket, a: NaiveOrder, b: NaiveOrder): NaiveMatch['by'] {
  const rows = [a, b]
    .filter((it) => isCode(market, it))
    .map((it) => ({
      signer: it.order.signer,
      owner: it.order.owner,
      isTrial: !isGrown(market, it),
    }))
  const [one, other] = rows
  const isOne = one && other && one.signer === other.signer && one.owner === other.owner
  return isOne ? [one] : rows
}

type Outcome<Kind> = Extract<SettlementOutcome, { kind: Kind }>

export function trustGains(
  market: NaiveMarket,
  match: NaiveMatch,
  { gasCost }: Outcome<'success'>,
): void {
  if (gasCost === undefined || gasCost === 0n) return
  market.gasCost = gasCost
  const a = find(market, match.makerOrderId)
  const b = find(market, match.takerOrderId)
  if (match.takerFee < gasCost || a.order.owner === b.order.owner) return
  const sides = placesOf(market, a, b)
  for (const { signer, owner } of sides) {
    const trust = trustOf(market, signer, owner)
    trust.credit += (match.takerFee - gasCost) / BigInt(sides.length)
    for (const it of [trust, trustOf(market, signer)])
      if (it.failures > 0 && market.nowMs >= endOf(it)) {
        it.failures -= 1
        if (it.proven > 0) it.proven -= 1
      }
  }
}

const OF_SIGNATURE = [
  'OV_InvalidSignature',
  'OutOfGas',
  'EmptyRevert',
  'Error',
  'Panic',
  'UnknownRevert',
]

/** Closes what the failure of a match closes; says whose orders are hidden or end for it, once the two have returned. */
export function trustLost(
  market: NaiveMarket,
  match: NaiveMatch,
  { revert, guilty, txHash, gasCost, signersRead }: Outcome<'reverted'>,
): { readonly signer: string; readonly owner: string; readonly ends: boolean }[] {
  const maker = find(market, match.makerOrderId)
  const taker = find(market, match.takerOrderId)
  const ofSignature = OF_SIGNATURE.includes(revert)
  if (guilty === 'venue' || (!ofSignature && (guilty === 'unclear' || txHash === undefined)))
    return []
  const blamed = { maker: [maker], taker: [taker], both: [maker, taker], unclear: [maker, taker] }[
    guilty
  ]
  const causes = placesOf(
    market,
    ...((blamed.length === 1 ? [blamed[0], blamed[0]] : blamed) as [NaiveOrder, NaiveOrder]),
  )
  if (causes.some(({ isTrial }) => isTrial))
    market.lost.push({ atMs: market.nowMs, points: txHash === undefined ? 1 : 10 })
  const lost = gasCost ?? (txHash === undefined ? 0n : market.gasCost)
  const half = causes.length === 2 ? (lost + 1n) / 2n : lost
  const trusts = causes.map(({ signer, owner }) => trustOf(market, signer, owner))
  if (guilty === 'unclear' && causes.length === 2) {
    const least =
      [half, ...trusts.map(({ credit }) => credit)].sort((a, b) => Number(a - b))[0] ?? 0n
    for (const trust of trusts) trust.credit -= least
    return []
  }
  const closed = []
  for (const trust of trusts) {
    const { signer, owner = '' } = trust
    trust.credit = trust.credit > half ? trust.credit - half : 0n
    if (guilty === 'unclear' && signersRead === undefined) continue
    if (ofSignature) fail(market, trustOf(market, signer))
    if (!fail(market, trust)) continue
    if (guilty !== 'unclear') trust.proven += 1
    closed.push({ signer, owner, ends: guilty !== 'unclear' && trust.proven >= 3 })
  }
  return closed
}

function fail({ nowMs }: NaiveMarket, trust: NaiveTrust): boolean {
  if (nowMs < endOf(trust)) return false
  trust.failures += 1
  trust.failedAtMs = nowMs
  return true
}

export function closeOrders(market: NaiveMarket, closed: ReturnType<typeof trustLost>): void {
  for (const { signer, owner, ends } of closed)
    for (const it of market.orders) {
      if (it.order.signer !== signer || it.order.owner !== owner || it.gone !== undefined) continue
      if (naiveStatus(it) === 'matching' && ends) it.cancelled ??= 'signer_unreliable'
      else if (naiveStatus(it) === 'active' && ends) naiveCancel(it, 'signer_unreliable')
      else if (naiveOpen(market, it) > 0n) hold(it, 'signer_waits', shutUntil(market, it))
    }
}

/** Whether the owner has as many live orders as may wait for a window that has not grown. */
export function isUntrusted(market: NaiveMarket, { order }: NaiveOrder, old?: NaiveOrder): boolean {
  if (!isCode(market, { order } as NaiveOrder) || sizeFor(market, order.signer, order.owner) > 1)
    return false
  const live = market.orders.filter(
    (it) => it.order.owner === order.owner && (it.pending > 0n || (it !== old && isLive(it))),
  )
  return live.length >= 20
}

/** An IOC order that waits for its signer's other matches. */
export const isHiddenIoc = (it: NaiveOrder): boolean =>
  it.order.timeInForce !== undefined && it.hold !== undefined && naiveStatus(it) === 'active'
