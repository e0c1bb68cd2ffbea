import type { Answer } from '../../chain/reads/expiring-cache.js'
import type { Market } from '../../core/contracts/market.js'
import type { Command } from '../../core/engine/command.js'
import { refuseDesired } from '../../core/entry/order-terms.js'
import { readReduction, type ReductionRequest } from '../../core/entry/read-change.js'
import type { Checked } from '../../core/entry/refusals.js'
import { checkCancel, type Cancellable, type CancelOrderDeps } from './cancel-order.js'

export interface ReduceOrderDeps extends CancelOrderDeps {
  readonly markets: readonly Market[]
}

/** A reduction that may enter the log of its market. */
export interface Reducible {
  readonly market: string
  readonly command: Extract<Command, { kind: 'ReduceOrder' }>
}

/** Checks a reduction's body, then its authority, which is that of a cancel, then the amount by the steps of its market. */
export function checkReduction(
  deps: ReduceOrderDeps,
  body: unknown,
  serviceAuth: string | undefined,
): Answer<Checked<Reducible>> {
  const read = readReduction(body)
  if ('refusal' in read) return read
  const checking = checkCancel(deps, body, serviceAuth)
  return checking instanceof Promise
    ? checking.then((checked) => judge(deps, read, checked))
    : judge(deps, read, checking)
}

function judge(
  { markets }: ReduceOrderDeps,
  { desired }: ReductionRequest,
  checked: Checked<Cancellable>,
): Checked<Reducible> {
  if ('refusal' in checked) return checked
  const { market, command } = checked
  const row = markets.find((each) => each.market === market)
  const refusal = row && desired > 0n ? refuseDesired(row, desired) : undefined
  if (refusal !== undefined) return { refusal }
  const { owner, nonce, reason } = command
  return { market, command: { kind: 'ReduceOrder', owner, nonce, desired, reason } }
}
