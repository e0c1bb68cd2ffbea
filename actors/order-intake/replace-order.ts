import type { Answer } from '../../chain/reads/expiring-cache.js'
import { changeRefusals } from '../../core/entry/order-refusals.js'
import { readReplacement, type ReplacementRequest } from '../../core/entry/read-change.js'
import { protectedNamespace, refusals, type Refusal } from '../../core/entry/refusals.js'
import type { CancelOrderDeps } from './cancel-order.js'
import { checkPlacement, type Placeable, type PlaceOrderDeps, type Refused } from './place-order.js'

export type ReplaceOrderDeps = PlaceOrderDeps & Pick<CancelOrderDeps, 'protectedPrefixes'>

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
): Answer<Replacement | Refused> {
  const request = readReplacement(body)
  if ('refusal' in request) return request
  const checking = checkPlacement(deps, request.order, { mayBeRefused: true })
  return checking instanceof Promise
    ? checking.then((checked) => judge(deps, request, checked))
    : judge(deps, request, checking)
}

function judge(
  deps: ReplaceOrderDeps,
  request: ReplacementRequest,
  checked: Placeable | Refused,
): Replacement | Refused {
  if ('refusal' in checked) return checked
  if (checked.order.signatureStatus !== 'checked') {
    return { refusal: changeRefusals.replacementUnchecked }
  }
  const refusal = refuseTarget(deps, request, checked)
  return refusal === undefined ? { ...checked, replaces: request.replaces } : { refusal }
}

function refuseTarget(
  { registry, protectedPrefixes }: ReplaceOrderDeps,
  { replaces, serviceTagged }: ReplacementRequest,
  { order }: Placeable,
): Refusal | undefined {
  const target = registry.findNonce(order.owner, replaces)
  if (target === undefined) return refusals.activeOrderNotFound
  if (target.market !== order.market) return changeRefusals.replacementDiffers
  const prefix = protectedPrefixes.find((each) => target.orderId.startsWith(each))
  return prefix !== undefined && serviceTagged ? protectedNamespace(prefix) : undefined
}
