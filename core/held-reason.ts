import type { Change, HoldReason } from './change.js'
import type { OrderStatus } from './order.js'

/** Whether an order with this status may still be open one day. */
export const isLiving = (status: OrderStatus): boolean =>
  status === 'active' || status === 'matching'

/** Why an order is not open after a change, given why it was not before; undefined when it is open, or has ended. */
export function heldReasonAfter(
  change: Change,
  before: HoldReason | undefined,
): HoldReason | undefined {
  if (!isLiving(change.status)) return undefined
  // A fill is of what was matched earlier; what is left of the order stays as it was.
  if (change.kind === 'OrderFilled') return before
  return 'hold' in change ? change.hold : undefined
}
