import { assert } from '../assert.js'
import { CODE_WINDOWS_MAX, TRIALS_MAX } from '../model/limits.js'
import { keyOf } from './code-windows.js'
import type { MatcherState } from './state.js'

/** Throws unless the windows of signers that are code agree with the orders and matches. Linear: for tests. */
export function checkWindows({ windows, matches, orders, nowMs }: MatcherState): void {
  const { failed, paid, signers, taken, inFlight, trying } = windows
  const places = new Map<string, number>()
  let trials = 0
  for (const [settlementId, row] of taken) {
    assert(matches.has(settlementId), `${settlementId} has a place of a window and is not a match`)
    for (const each of row.windows) places.set(keyOf(each), (places.get(keyOf(each)) ?? 0) + 1)
    const isTrial = row.windows.some((each) => each.isTrial)
    assert(trying.has(settlementId) === isTrial, `${settlementId} is counted wrongly as a trial`)
    if (isTrial) trials += 1
  }
  assert(trying.size === trials && trials <= TRIALS_MAX, `${trying.size} matches are on trial`)
  assert(places.size === inFlight.size, 'a window in flight is counted wrongly')
  for (const [key, count] of places) {
    assert(inFlight.get(key) === count, `the matches in flight of ${key} do not add up`)
  }
  let marked = 0
  for (const { order } of orders.values()) if (order.signedByCode === true) marked += 1
  assert(marked === windows.orders, `${windows.orders} orders by code, ${marked} are marked`)
  assert(failed.size + paid.size <= CODE_WINDOWS_MAX, 'there are too many windows')
  assert(signers.size <= CODE_WINDOWS_MAX, 'there are too many signers that failed')
  for (const [key, { failures, proven, credit }] of paid) {
    assert(!failed.has(key) && failures + proven === 0 && credit > 0n, `${key} is kept for nothing`)
  }
  for (const [key, { failures, proven }] of failed) {
    assert(proven >= 0 && proven <= failures, `${key} has more proven failures than failures`)
  }
  checkAges([...failed.values()], nowMs)
  checkAges([...signers.values()], nowMs)
}

function checkAges(
  rows: readonly { readonly failures: number; readonly failedAtMs: number }[],
  nowMs: number,
): void {
  let before = 0
  for (const { failures, failedAtMs } of rows) {
    assert(failures > 0, 'a failure is kept that was taken back')
    assert(failedAtMs >= before && failedAtMs <= nowMs, 'the failures are not in their order')
    before = failedAtMs
  }
}
