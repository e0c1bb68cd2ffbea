import type { PostOnly, SelfTradePrevention, TimeInForce } from '../engine/order.js'
import { fieldOf, type JsonFields } from '../json.js'
import type { OrderBody } from './order-body.js'
import { cancelsRefusals, controlRefusals } from './order-refusals.js'
import type { Checked } from './refusals.js'

/** The lease of a socket, as the fan-out names it. */
const LEASE_ID = /^[0-9a-f]{32}$/

export const isLeaseId = (value: unknown): value is string =>
  typeof value === 'string' && LEASE_ID.test(value)

/** How an order may match and rest, beside its terms. Absent members: as usual. */
export interface OrderControls {
  readonly timeInForce?: TimeInForce
  readonly postOnly?: PostOnly
  readonly stp?: SelfTradePrevention
  readonly stpScope?: 'owner'
  readonly leaseId?: string
}

/** Those of an order that has none. */
export const USUAL_CONTROLS: OrderControls = {}

type Sent = Pick<OrderBody, 'timeInForce' | 'postOnly' | 'stp' | 'stpScope' | 'leaseId'>

/** Reads `time_in_force`, `post_only`, `stp`, `stp_scope` and `lease_id` as they came. */
export function readControls(sent: Sent): Checked<OrderControls> {
  const controls = readMatching(sent)
  const { leaseId } = sent
  if (leaseId === undefined || 'refusal' in controls) return controls
  return isLeaseId(leaseId) ? { ...controls, leaseId } : { refusal: cancelsRefusals.leaseIdForm }
}

function readMatching(sent: Sent): Checked<OrderControls> {
  const ofBook = readBookControls(sent)
  if ('refusal' in ofBook || (sent.stp === undefined && sent.stpScope === undefined)) return ofBook
  const ofOwn = readSelfTrade(sent)
  return 'refusal' in ofOwn ? ofOwn : { ...ofBook, ...ofOwn }
}

function readBookControls({ timeInForce, postOnly }: Sent): Checked<OrderControls> {
  if (timeInForce === undefined && postOnly === undefined) return USUAL_CONTROLS
  const isImmediate = timeInForce === 'IOC' || timeInForce === 'FOK'
  if (timeInForce !== undefined && timeInForce !== 'GTC' && !isImmediate) {
    return { refusal: controlRefusals.timeInForce }
  }
  if (postOnly === undefined) return isImmediate ? { timeInForce } : USUAL_CONTROLS
  if (postOnly !== 'reject' && postOnly !== 'slide') return { refusal: controlRefusals.postOnly }
  return isImmediate ? { refusal: controlRefusals.postOnlyImmediate } : { postOnly }
}

function readSelfTrade({ stp, stpScope }: Sent): Checked<OrderControls> {
  const leaves = stp === 'cancel_oldest' || stp === 'cancel_both'
  if (stp !== undefined && stp !== 'cancel_newest' && !leaves) {
    return { refusal: controlRefusals.stp }
  }
  if (stpScope !== undefined && stpScope !== 'subaccount' && stpScope !== 'owner') {
    return { refusal: controlRefusals.stpScope }
  }
  return { ...(leaves && { stp }), ...(stpScope === 'owner' && { stpScope }) }
}

/** Fields that look like trading instructions and are none here: of other venues, or misspelt. */
const NO_INSTRUCTIONS: ReadonlySet<string> = new Set([
  ...['type', 'order_type', 'orderType', 'ordType', 'exec_inst', 'execInst'],
  ...['timeInForce', 'timeinforce', 'time_inforce', 'tif', 'TIF'],
  ...['postOnly', 'postonly', 'post-only', 'maker_only', 'makerOnly'],
  ...['reduceOnly', 'reduceonly', 'reduce-only', 'close_only', 'closeOnly', 'close_position'],
  ...['stop_price', 'stopPrice', 'trigger_price', 'triggerPrice', 'stop_loss', 'take_profit'],
  ...['iceberg', 'display_size', 'hidden', 'leverage'],
  ...['self_trade_prevention', 'self_trade_prevention_mode', 'selfTradePreventionMode'],
  ...['stp_mode', 'stpMode', 'stpScope', 'replaces_nonce'],
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
