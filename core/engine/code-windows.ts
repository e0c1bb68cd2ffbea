import type { Address } from '../action.js'
import {
  CODE_WINDOWS_MAX,
  TRIAL_POINTS_PER_HOUR,
  TRIALS_HOUR_MS,
  TRIALS_MAX,
  WINDOW_CLOSED_FACTOR,
  WINDOW_CLOSED_MAX_MS,
  WINDOW_CLOSED_MS,
  WINDOW_FORGOTTEN_MS,
  WINDOW_GAS_RESERVE,
  WINDOW_SIZE_MAX,
  TRIAL_POINTS_ON_CHAIN,
} from '../model/limits.js'
import { quoteE18, type QuoteE18 } from '../money.js'

// How far the market trusts signers that are code. Code can tell a simulation from a block, so a match that it signs may
// always be lost at the venue's cost. Each signer and owner has a window: how many matches they may have in flight. It
// begins at one and grows by what their matches have paid the venue beyond its gas, so that no more than that, and one
// match, is ever at risk. All windows that have not grown share a few matches in flight and an hourly budget of losses,
// because owners and signers cost nothing. No plain key meets any of it.

/** A window is of the orders of one owner that one signer has signed. */
export interface WindowOf {
  readonly signer: Address
  readonly owner: Address
}

/** The record of a window. A window without a record is fresh. */
export interface CodeWindow extends WindowOf {
  /** Fees that its matches have paid beyond their gas, less the gas of those that it has lost; never below 0. */
  readonly credit: QuoteE18
  /** Failures that closed it and that no paid match has taken back. */
  readonly failures: number
  /** As many of them as were proven. */
  readonly proven: number
  /** Market time of the last of them, unix milliseconds; 0 while there is none. */
  readonly failedAtMs: number
}

/** A signer whose signature made matches fail: the windows of all its owners are closed for a while. */
export interface FailedSigner extends Pick<CodeWindow, 'failures' | 'failedAtMs'> {
  readonly signer: Address
}

/** A window in which a match in flight takes a place. */
export interface TakenWindow extends WindowOf {
  /** It had not grown when the match was made. */
  readonly isTrial: boolean
}

export interface WindowsOfMatch {
  readonly settlementId: string
  readonly windows: readonly TakenWindow[]
}

export interface CodeTrials {
  /** Newest gas cost of a settled match of the market; 0 while none was told. */
  readonly gasCost: QuoteE18
  /** The hour of market time that `points` are of, counted from 1970. */
  readonly hour: number
  /**
   * Points lost in that hour: at most TRIAL_POINTS_PER_HOUR by windows that had not grown, and those of keys that turned code in
   * flight.
   */
  readonly points: number
}

/** All windows of a market: at most CODE_WINDOWS_MAX in `failed` and `paid` together. */
export interface CodeWindows {
  /** Those with failures, by signer and owner, the one that failed longest ago first. */
  readonly failed: Map<string, CodeWindow>
  /** Those with credit and without failures, the one that changed longest ago first. */
  readonly paid: Map<string, CodeWindow>
  /** The signer that failed longest ago first. */
  readonly signers: Map<Address, FailedSigner>
  /** By settlement id. */
  readonly taken: Map<string, WindowsOfMatch>
  /** Matches in flight, by signer and owner; absent while there is none. Follows from `taken`. */
  readonly inFlight: Map<string, number>
  /** Those of `taken` that have a window which had not grown: at most TRIALS_MAX. Follows from `taken`. */
  readonly trying: Map<string, WindowsOfMatch>
  trials: CodeTrials
  /** Live orders that are marked as signed by code. Follows from the orders. */
  orders: number
}

/** The stored part of the windows; the rest follows from it. */
interface KeptWindows {
  readonly windows: Iterable<CodeWindow>
  readonly signers: Iterable<FailedSigner>
  readonly taken: Iterable<WindowsOfMatch>
  readonly trials: CodeTrials | undefined
}

const NO_TRIALS: CodeTrials = { gasCost: quoteE18(0n), hour: 0, points: 0 }

/** The windows as they were kept; the live orders are still to be counted. */
export function codeWindowsOf({ windows, signers, taken, trials }: KeptWindows): CodeWindows {
  const all = [...windows].map((each) => [keyOf(each), each] as const)
  const restored: CodeWindows = {
    failed: new Map(all.filter(([, { failures }]) => failures > 0)),
    paid: new Map(all.filter(([, { failures }]) => failures === 0)),
    signers: new Map(Array.from(signers, (each) => [each.signer, each])),
    taken: new Map(),
    inFlight: new Map(),
    trying: new Map(),
    trials: trials ?? NO_TRIALS,
    orders: 0,
  }
  for (const each of taken) takePlaces(restored, each)
  return restored
}

export const noCodeWindows = (): CodeWindows =>
  codeWindowsOf({ windows: [], signers: [], taken: [], trials: undefined })

export const keyOf = ({ signer, owner }: WindowOf): string => `${signer} ${owner}`

const windowAt = ({ failed, paid }: CodeWindows, key: string): CodeWindow | undefined =>
  failed.get(key) ?? paid.get(key)

/** What the window has paid for and not lost. */
export const creditOf = (windows: CodeWindows, of: WindowOf): QuoteE18 =>
  windowAt(windows, keyOf(of))?.credit ?? quoteE18(0n)

/**
 * How many matches the window may have in flight: one, and one more for each time that its credit covers the gas of a match
 * four times, rounded down. One alone while no gas cost was told.
 */
export function sizeOf(windows: CodeWindows, of: WindowOf): number {
  const { gasCost } = windows.trials
  if (gasCost === 0n) return 1
  const grown = creditOf(windows, of) / (WINDOW_GAS_RESERVE * gasCost)
  return grown >= WINDOW_SIZE_MAX ? WINDOW_SIZE_MAX : 1 + Number(grown)
}

export const hasGrown = (windows: CodeWindows, of: WindowOf): boolean => sizeOf(windows, of) > 1

/** How long a window is closed after so many failures: 10 s, times four with each, at most a day. */
const closedMs = (failures: number): number =>
  Math.min(WINDOW_CLOSED_MS * WINDOW_CLOSED_FACTOR ** (failures - 1), WINDOW_CLOSED_MAX_MS)

const openAt = (kept: Pick<CodeWindow, 'failures' | 'failedAtMs'> | undefined): number =>
  kept === undefined || kept.failures === 0 ? 0 : kept.failedAtMs + closedMs(kept.failures)

/** Market time at which the window opens again, unix milliseconds; 0 when it was never closed. */
export const closedUntilMs = (windows: CodeWindows, of: WindowOf): number =>
  Math.max(openAt(windows.failed.get(keyOf(of))), openAt(windows.signers.get(of.signer)))

/** Whether the window may have one more match in flight. */
export const hasPlace = (windows: CodeWindows, of: WindowOf): boolean =>
  (windows.inFlight.get(keyOf(of)) ?? 0) < sizeOf(windows, of)

/**
 * Whether a further failure of the window can be recorded: always where it has a record. A full table takes no new window,
 * because to drop a closed one would open it again.
 */
export function hasRecord(windows: CodeWindows, of: WindowOf): boolean {
  const { failed, signers, inFlight } = windows
  if (windowAt(windows, keyOf(of)) !== undefined) return true
  // Each window in flight may fail.
  const isFull = ({ size }: { readonly size: number }) =>
    size + inFlight.size + 2 > CODE_WINDOWS_MAX
  return !isFull(failed) && (signers.has(of.signer) || !isFull(signers))
}

/** Whether a match of a window that has not grown may be made: one of each owner, and a few of the market. */
export function mayTry({ trying }: CodeWindows, { owner }: WindowOf): boolean {
  if (trying.size >= TRIALS_MAX) return false
  for (const { windows } of trying.values())
    if (windows.some((each) => each.isTrial && each.owner === owner)) return false
  return true
}

/** Whether the hour has points left for one more such match, should all that are in flight be lost. */
export const hasBudget = ({ trials, trying }: CodeWindows, nowMs: number): boolean =>
  pointsAt(trials, nowMs) + TRIAL_POINTS_ON_CHAIN * (trying.size + 1) <= TRIAL_POINTS_PER_HOUR

const hourOf = (nowMs: number): number => Math.floor(nowMs / TRIALS_HOUR_MS)

const pointsAt = ({ hour, points }: CodeTrials, nowMs: number): number =>
  hour === hourOf(nowMs) ? points : 0

/** Counts what windows that have not grown have lost. */
export function addPoints(windows: CodeWindows, nowMs: number, points: number): void {
  const { trials } = windows
  windows.trials = {
    ...trials,
    hour: hourOf(nowMs),
    points: pointsAt(trials, nowMs) + points,
  }
}

/** Notes the gas cost of a settled match: the windows of all are measured by it. */
export function noteGasCost(windows: CodeWindows, gasCost: QuoteE18): void {
  if (gasCost === windows.trials.gasCost) return
  windows.trials = { ...windows.trials, gasCost }
}

/** A match is made: it takes a place of each of its windows. */
export function takePlaces(windows: CodeWindows, row: WindowsOfMatch): void {
  windows.taken.set(row.settlementId, row)
  if (row.windows.some(({ isTrial }) => isTrial)) windows.trying.set(row.settlementId, row)
  for (const each of row.windows) count(windows, keyOf(each), 1)
}

/** The match has an outcome: the places that it has taken are free. */
export function givePlaces(windows: CodeWindows, settlementId: string): void {
  if (windows.taken.size === 0) return
  const row = windows.taken.get(settlementId)
  if (row === undefined) return
  windows.taken.delete(settlementId)
  windows.trying.delete(settlementId)
  for (const each of row.windows) count(windows, keyOf(each), -1)
}

function count({ inFlight }: CodeWindows, key: string, more: number): void {
  const left = (inFlight.get(key) ?? 0) + more
  if (left === 0) inFlight.delete(key)
  else inFlight.set(key, left)
}

/**
 * A match of the window has paid more than its gas: that is credited, and takes one failure back. What was in flight when
 * the window was closed says nothing of the time since.
 */
export function credit(windows: CodeWindows, of: WindowOf, gained: QuoteE18, nowMs: number): void {
  const before = windowAt(windows, keyOf(of))
  const kept = before ?? { ...only(of), ...NEVER_FAILED, proven: 0, credit: quoteE18(0n) }
  const left = takenBack(kept, nowMs)
  const proven = left === kept ? kept.proven : Math.max(kept.proven - 1, 0)
  put(windows, { ...left, proven, credit: quoteE18(kept.credit + gained) })
  const signer = windows.signers.get(of.signer)
  if (signer === undefined) return
  const after = takenBack(signer, nowMs)
  if (after.failures === 0) windows.signers.delete(of.signer)
  else windows.signers.set(of.signer, after)
}

const NEVER_FAILED = { failures: 0, failedAtMs: 0 }

const only = ({ signer, owner }: WindowOf): WindowOf => ({ signer, owner })

function takenBack<T extends Pick<CodeWindow, 'failures' | 'failedAtMs'>>(
  kept: T,
  nowMs: number,
): T {
  if (kept.failures === 0 || nowMs < openAt(kept)) return kept
  return kept.failures === 1
    ? { ...kept, ...NEVER_FAILED }
    : { ...kept, failures: kept.failures - 1 }
}

/** Takes gas that was lost off the credit, as far as there is some. */
export function charge(windows: CodeWindows, of: WindowOf, lost: bigint): void {
  const before = windowAt(windows, keyOf(of))
  if (before === undefined || lost === 0n) return
  put(windows, { ...before, credit: quoteE18(before.credit > lost ? before.credit - lost : 0n) })
}

interface WindowClosure {
  readonly nowMs: number
  readonly ofSignature: boolean
  readonly isProven: boolean
}

/**
 * Closes the window, for all owners of its signer as well if the signature made the match fail; returns it as it is now,
 * undefined when it was closed already: what was in flight then says nothing new. A full table records no new window: only keys
 * that turned code in flight, which took no place (`hasRecord`), can fill it.
 */
export function close(
  windows: CodeWindows,
  of: WindowOf,
  { nowMs, ofSignature, isProven }: WindowClosure,
): CodeWindow | undefined {
  const { failed, paid, signers } = windows
  if (ofSignature) {
    const before = signers.get(of.signer)
    if (nowMs >= openAt(before) && (before !== undefined || signers.size < CODE_WINDOWS_MAX)) {
      signers.delete(of.signer)
      const failures = (before?.failures ?? 0) + 1
      signers.set(of.signer, { signer: of.signer, failures, failedAtMs: nowMs })
    }
  }
  const key = keyOf(of)
  const before = windowAt(windows, key)
  if (nowMs < openAt(before)) return undefined
  if (before === undefined && failed.size >= CODE_WINDOWS_MAX) return undefined
  failed.delete(key)
  paid.delete(key)
  const closed: CodeWindow = {
    ...only(of),
    credit: before?.credit ?? quoteE18(0n),
    failures: (before?.failures ?? 0) + 1,
    proven: (before?.proven ?? 0) + (isProven ? 1 : 0),
    failedAtMs: nowMs,
  }
  put(windows, closed)
  return closed
}

/**
 * Keeps what is known of a window; one that is fresh again is not kept. A full table drops the row that changed longest ago, of
 * those without failures.
 */
function put({ failed, paid }: CodeWindows, window: CodeWindow): void {
  const key = keyOf(window)
  if (window.failures > 0) {
    paid.delete(key)
    failed.set(key, window)
  } else {
    failed.delete(key)
    paid.delete(key)
    if (window.credit > 0n) paid.set(key, window)
  }
  if (failed.size + paid.size <= CODE_WINDOWS_MAX) return
  for (const oldest of paid.keys()) {
    paid.delete(oldest)
    return
  }
}

/** Forgets failures that are so long ago that their closing has ended a day before, or earlier. */
export function forgetOldFailures(windows: CodeWindows, nowMs: number): void {
  const { failed, signers } = windows
  // Asked before each command: iterators cost more than that.
  if (failed.size === 0 && signers.size === 0) return
  for (const window of failed.values()) {
    if (nowMs < window.failedAtMs + WINDOW_FORGOTTEN_MS) break
    put(windows, { ...window, ...NEVER_FAILED, proven: 0 })
  }
  for (const { signer, failedAtMs } of signers.values()) {
    if (nowMs < failedAtMs + WINDOW_FORGOTTEN_MS) break
    signers.delete(signer)
  }
}

/** In the order in which a restore takes them. */
export const listWindows = ({ failed, paid }: CodeWindows): CodeWindow[] => [
  ...failed.values(),
  ...paid.values(),
]
