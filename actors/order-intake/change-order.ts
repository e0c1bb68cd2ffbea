import type { CacheAnswer } from '../../chain/reads/expiring-cache.js'
import type { Market } from '../../core/model/market.js'
import type { Command } from '../../core/model/command.js'
import { changeRefusals } from '../../core/entry/order-refusals.js'
import { refuseDesired } from '../../core/entry/order-terms.js'
import {
  readReduction,
  readReplacement,
  type ReductionRequest,
  type ReplacementRequest,
} from '../../core/entry/read-change.js'
import {
  protectedNamespace,
  refusals,
  type OrRefusal,
  type Refusal,
} from '../../core/entry/refusals.js'
import { checkCancel, findTarget, type Cancellable, type CancelOrderDeps } from './cancel-order.js'
import type { TakenOrder } from '../../data/intake-registry.js'
import {
  checkPlacement,
  withDeadline,
  type Placeable,
  type PlaceOrderDeps,
  type RefusedPlacement,
} from './place-order.js'

type ReplaceOrderDeps = PlaceOrderDeps &
  Pick<CancelOrderDeps, 'protectedPrefixes' | 'underWay' | 'registry'>

/** An order that may enter the log in the place of another one. */
export interface Replacement extends Placeable {
  /** Nonce of the owner's order that it replaces. */
  readonly replaces: bigint
}

/**
 * Checks a new order as any other, and whether the order that it names is of its market. The new order's signature is the
 * authority over the old one, so it must have been checked; the market decides whether the old one is still active.
 */
export function checkReplacement(
  deps: ReplaceOrderDeps,
  body: unknown,
): CacheAnswer<Replacement | RefusedPlacement> {
  const request = readReplacement(body)
  if ('refusal' in request) return request
  const checking = checkPlacement(deps, request.order, { mayBeRefused: true })
  return checking instanceof Promise
    ? checking.then((checked) => judgeReplacement(deps, request, checked))
    : judgeReplacement(deps, request, checking)
}

function judgeReplacement(
  deps: ReplaceOrderDeps,
  request: ReplacementRequest,
  checked: Placeable | RefusedPlacement,
): CacheAnswer<Replacement | RefusedPlacement> {
  if ('refusal' in checked) return checked
  if (checked.order.signatureStatus !== 'checked') {
    return { refusal: changeRefusals.replacementUnchecked }
  }
  const judge = (target: OrRefusal<TakenOrder>): Replacement | RefusedPlacement => {
    if ('refusal' in target) return target
    const refusal = refuseTarget(deps, request, checked, target)
    return refusal === undefined ? { ...checked, replaces: target.nonce } : { refusal }
  }
  const { owner, nonce, orderId } = checked.order
  const { replaces } = request
  // It would wait for itself.
  const isItself = 'nonce' in replaces ? replaces.nonce === nonce : replaces.orderId === orderId
  if (isItself) return { refusal: refusals.activeOrderNotFound }
  const target = findTarget(deps, { owner, ...replaces })
  // Two replacements that name each other wait in vain.
  return target instanceof Promise
    ? withDeadline(target.then(judge), { refusal: refusals.overloaded })
    : judge(target)
}

function refuseTarget(
  { protectedPrefixes }: Pick<ReplaceOrderDeps, 'protectedPrefixes'>,
  { serviceTagged }: ReplacementRequest,
  { order }: Placeable,
  target: TakenOrder,
): Refusal | undefined {
  if (target.market !== order.market) return changeRefusals.replacementDiffers
  const prefix = protectedPrefixes.find((each) => target.orderId.startsWith(each))
  return prefix !== undefined && serviceTagged ? protectedNamespace(prefix) : undefined
}

interface ReduceOrderDeps extends CancelOrderDeps {
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
): CacheAnswer<OrRefusal<Reducible>> {
  const read = readReduction(body)
  if ('refusal' in read) return read
  const checking = checkCancel(deps, body, serviceAuth)
  return checking instanceof Promise
    ? checking.then((checked) => judgeReduction(deps, read, checked))
    : judgeReduction(deps, read, checking)
}

function judgeReduction(
  { markets }: ReduceOrderDeps,
  { desired }: ReductionRequest,
  checked: OrRefusal<Cancellable>,
): OrRefusal<Reducible> {
  if ('refusal' in checked) return checked
  const { market, command } = checked
  const row = markets.find((each) => each.market === market)
  const refusal = row && desired > 0n ? refuseDesired(row, desired) : undefined
  if (refusal !== undefined) return { refusal }
  const { owner, nonce, reason } = command
  return { market, command: { kind: 'ReduceOrder', owner, nonce, desired, reason } }
}
