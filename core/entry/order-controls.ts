import type { PostOnly, TimeInForce } from '../engine/order.js'
import { fieldOf, type JsonFields } from '../json.js'
import { controlRefusals } from './control-refusals.js'
import type { Checked } from './refusals.js'

/** How an order may match and rest, beside its terms. Absent members: as usual. */
export interface OrderControls {
  readonly timeInForce?: TimeInForce
  readonly postOnly?: PostOnly
}

const USUAL: OrderControls = {}

/** Reads `time_in_force` and `post_only` as they came. */
export function readControls(timeInForce: unknown, postOnly: unknown): Checked<OrderControls> {
  if (timeInForce === undefined && postOnly === undefined) return USUAL
  const isImmediate = timeInForce === 'IOC' || timeInForce === 'FOK'
  if (timeInForce !== undefined && timeInForce !== 'GTC' && !isImmediate) {
    return { refusal: controlRefusals.timeInForce }
  }
  if (postOnly === undefined) return isImmediate ? { timeInForce } : USUAL
  if (postOnly !== 'reject' && postOnly !== 'slide') return { refusal: controlRefusals.postOnly }
  return isImmediate ? { refusal: controlRefusals.postOnlyImmediate } : { postOnly }
}

/** Fields that look like trading instructions and are none here: of other venues, or misspelt. */
const NO_INSTRUCTIONS: ReadonlySet<string> = new Set([
  ...['type', 'order_type', 'orderType', 'ordType', 'exec_inst', 'execInst'],
  ...['timeInForce', 'timeinforce', 'time_inforce', 'tif', 'TIF'],
  ...['postOnly', 'postonly', 'post-only', 'maker_only', 'makerOnly'],
  ...['reduceOnly', 'reduceonly', 'reduce-only', 'close_only', 'closeOnly', 'close_position'],
  ...['stop_price', 'stopPrice', 'trigger_price', 'triggerPrice', 'stop_loss', 'take_profit'],
  ...['iceberg', 'display_size', 'hidden', 'leverage'],
])

/** The names of a body's fields that look like trading instructions and are ignored. `type: "limit"` is what every order is. */
export function ignoredInstructions(fields: JsonFields): readonly string[] {
  let found: string[] | undefined
  for (const name in fields) {
    if (!NO_INSTRUCTIONS.has(name) || fieldOf(fields, name) === undefined) continue
    if (isLimitType(fields[name])) continue
    found ??= []
    found.push(name)
  }
  return found ?? NONE
}

const NONE: readonly string[] = []

const isLimitType = (value: unknown): boolean =>
  typeof value === 'string' && value.toLowerCase() === 'limit'
