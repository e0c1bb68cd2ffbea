import type { z } from 'zod'
import { isSignatureText } from '../../core/entry/read-action.js'
import {
  readCancel,
  readCancelAll,
  readCancelAllAfter,
  readCancelOrders,
  type CancelsBody,
} from '../../core/entry/read-cancels.js'
import { readBatch, readReduction, readReplacement } from '../../core/entry/read-change.js'
import { readIndexStatus } from '../../core/entry/read-index-status.js'
import { readSubmittedOrder, validateOrder } from '../../core/entry/validate-order.js'
import type { Checked } from '../../core/entry/refusals.js'
import {
  readTransferBody,
  validateDeposit,
  validateWithdrawal,
} from '../../core/entry/validate-transfer.js'
import { CancelAll, CancelAllAfter, CancelList } from '../../interface/cancels.js'
import { CancelOrder, NewOrder } from '../../interface/order.js'
import { PlaceBatch, ReduceOrder, ReplaceOrder } from '../../interface/order-changes.js'
import { IndexStatus } from '../../interface/perpetual.js'
import { clientFrames } from '../../interface/socket.js'
import { NewDeposit, NewWithdrawal } from '../../interface/transfer.js'
import { parseClientFrame } from '../../actors/ws-fanout/client-frames.js'
import { readLease } from '../../actors/ws-fanout/leases.js'
import { readAuthFrame } from '../../core/entry/auth-frame.js'
import { aMarket, signedIntentBody, signedOrderBody } from '../support/builders.js'
import { aDepositBody, aWithdrawalBody, NOW_MS, places } from '../support/transfer-bodies.js'

export const isObject = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

export type Fields = Record<string, unknown>

/** A kind of body: its shape, and the two depths at which core/entry reads it. */
export interface Kind {
  readonly schema: z.ZodObject
  /** Bodies that core/entry accepts. */
  readonly valid: readonly Fields[]
  /** Names of its objects, whose fields are spoiled as well. */
  readonly objects: readonly string[]
  /** The code of the refusal by the whole check, undefined when it accepts. */
  readonly refusalOf: (body: unknown) => string | undefined
  /** The same for the shape alone. */
  readonly shapeRefusalOf: (body: unknown) => string | undefined
  /** Fields whose value core/entry does not look at in this body. */
  readonly unread?: (body: Fields) => readonly string[]
  /** Codes of the shape for what the schema does not say: ranges of numbers, fields that must agree. */
  readonly beyondSchema: readonly string[]
  /** Codes of the rest for what no schema says: what one field is to another, to the market or to the clock. */
  readonly beyondBody: readonly string[]
}

const markets = [aMarket()]
const transferRules = {
  ...{ depositModule: places.depositModule, withdrawalModule: places.withdrawalModule },
  ...{ cashAsset: places.cashAsset, perpManager: places.perpManager, nowMs: NOW_MS },
  withdrawable: [places.wrappedUsdc, places.wrappedCngn],
}
const codeOf = (checked: object): string | undefined =>
  'refusal' in checked ? (checked.refusal as { code: string }).code : undefined
const intent = { side: 'buy', price: '1530', size: '100' } as const
const permit = { value: '25000000', deadline: '1800000000', signature: `0x${'5e'.repeat(65)}` }

/** What an order is refused for although each of its fields is declared, in the order of the checks. */
const BEYOND_ORDER = [
  ...['expiry_past', 'action_expiry_past', 'unknown_instrument', 'wrong_order_entry_spec'],
  ...['order_entry_spec_missing', 'ui_intent_missing', 'invalid_ui_intent_side', 'side_mismatch'],
  ...[
    'limit_price_mismatch',
    'desired_amount_mismatch',
    'limit_price_not_positive',
    'price_off_tick',
  ],
  ...['desired_amount_not_positive', 'size_below_minimum', 'invalid_amount_step'],
  ...['ui_intent_price_not_positive', 'ui_intent_size_not_positive', 'notional_out_of_range'],
  'notional_below_minimum',
  ...['filled_amount_exceeds', 'subaccount_mismatch', 'nonce_mismatch', 'owner_mismatch'],
  ...['signer_mismatch', 'recipient_not_subaccount', 'wrong_module', 'trade_data_words'],
  ...['data_is_bid_mismatch', 'data_worst_fee_mismatch', 'data_limit_price_not_aligned'],
  ...['data_desired_amount_not_aligned', 'reduce_only_unsupported'],
]
/** The same of a deposit and a withdrawal. */
const BEYOND_TRANSFER = [
  ...['action_expired', 'action_expiry_too_far', 'signer_not_owner', 'wrong_module'],
  ...['invalid_action_data', 'subaccount_zero'],
]

const PROOF = ['signer_address', 'issued_at', 'expiry']
const provenCancel = {
  ...{ owner_address: places.owner, signer_address: places.owner, signature: '0x5e' },
  ...{ issued_at: 1_800_000_000, expiry: 1_800_000_060 },
}

/** What the cancels of many orders share. */
function cancelsOf(
  schema: z.ZodObject,
  read: (body: unknown) => Checked<CancelsBody<unknown>>,
): Omit<Kind, 'valid'> {
  return {
    schema,
    objects: [],
    refusalOf: (body) => {
      const checked = read(body)
      if ('refusal' in checked || checked.proof === undefined) return codeOf(checked)
      // The verifier of the proof checks the form of its signature.
      return isSignatureText(checked.proof.signature) ? undefined : 'cancel_proof_invalid'
    },
    shapeRefusalOf: (body) => codeOf(read(body)),
    unread: ({ signature }) => (signature === undefined ? PROOF : []),
    beyondSchema: [
      ...['invalid_integer', 'invalid_expiry', 'cancel_proof_too_long', 'invalid_issued_at'],
    ],
    beyondBody: [],
  }
}

/** What a frame is refused for: by its parser, and by what answers it, without the session. */
function refusalOfFrame(body: unknown): string | undefined {
  if (!isObject(body)) return 'invalid_json'
  const parsed = parseClientFrame(JSON.stringify(body))
  if ('problem' in parsed) return parsed.problem.code
  const { frame } = parsed
  if (frame.op === 'auth') {
    const read = readAuthFrame(frame.fields)
    // The verifier checks the form of its signature.
    const isForm = 'frame' in read && /^0x[0-9a-fA-F]{130}$/.test(read.frame.signature)
    return isForm ? undefined : 'auth_failed'
  }
  if (frame.op === 'cancel_on_disconnect' || frame.op === 'cancel_all_after') {
    const lease = readLease({ findMarket: (name) => name }, frame)
    return typeof lease === 'string' ? lease : undefined
  }
  if (frame.op !== 'place' && frame.op !== 'cancel') return undefined
  const order: unknown = JSON.parse(frame.body)
  return codeOf(
    frame.op === 'cancel' ? readCancel(order) : validateOrder(order, { markets, nowMs: NOW_MS }),
  )
}

/** A frame of the socket. Its order is one of those above. */
const frameOf = (
  op: keyof typeof clientFrames,
  valid: readonly Fields[],
  beyondSchema: readonly string[] = [],
): Kind => ({
  schema: clientFrames[op],
  valid,
  objects: valid.some((each) => 'order' in each) ? ['order'] : [],
  refusalOf: refusalOfFrame,
  shapeRefusalOf: refusalOfFrame,
  unread: ({ channel }) => [
    ...(channel === 'levels' ? [] : ['depth']),
    ...(channel === 'candles' ? [] : ['interval']),
  ],
  beyondSchema,
  beyondBody: [],
})

export const kinds: Readonly<Record<string, Kind>> = {
  order: {
    schema: NewOrder,
    valid: [
      { ...(await signedOrderBody()), filled_amount: '0', reduce_only: false },
      { ...(await signedIntentBody(intent)) },
    ],
    objects: ['action_json', 'ui_intent'],
    refusalOf: (body) => codeOf(validateOrder(body, { markets, nowMs: NOW_MS })),
    shapeRefusalOf: (body) => {
      const read = readSubmittedOrder(body)
      return codeOf(read) ?? codeOf('signed' in read ? read.signed : {})
    },
    beyondSchema: ['invalid_integer', 'invalid_action_json'],
    beyondBody: BEYOND_ORDER,
  },
  replacement: {
    schema: ReplaceOrder,
    valid: [
      { ...(await signedOrderBody()), replaces_nonce: '7' },
      { ...(await signedOrderBody()), replaces_order_id: 'order-7' },
    ],
    objects: ['action_json'],
    refusalOf: (body) => {
      const read = readReplacement(body)
      return codeOf('order' in read ? validateOrder(read.order, { markets, nowMs: NOW_MS }) : read)
    },
    shapeRefusalOf: (body) => {
      const read = readReplacement(body)
      if (!('order' in read)) return codeOf(read)
      const order = readSubmittedOrder(read.order)
      return codeOf(order) ?? codeOf('signed' in order ? order.signed : {})
    },
    beyondSchema: ['invalid_integer', 'invalid_action_json'],
    beyondBody: BEYOND_ORDER,
  },
  batch: {
    schema: PlaceBatch,
    valid: [{ orders: [await signedOrderBody(), await signedIntentBody(intent)] }],
    objects: [],
    refusalOf: (body) => {
      const read = readBatch(body)
      if ('refusal' in read) return codeOf(read)
      const context = { markets, nowMs: NOW_MS }
      return read.orders.map((order) => codeOf(validateOrder(order, context))).find(Boolean)
    },
    shapeRefusalOf: (body) => {
      const read = readBatch(body)
      if ('refusal' in read) return codeOf(read)
      const orders = read.orders.map(readSubmittedOrder)
      return orders
        .map((order) => codeOf(order) ?? codeOf('signed' in order ? order.signed : {}))
        .find(Boolean)
    },
    beyondSchema: ['invalid_integer', 'invalid_action_json'],
    beyondBody: BEYOND_ORDER,
  },
  cancel: {
    schema: CancelOrder,
    valid: [
      { owner_address: places.owner, nonce: '7' },
      { owner_address: places.owner, order_id: 'order-7' },
      {
        ...{ owner_address: places.owner, nonce: '7', reason: 'done', service: 'a' },
        ...{ signer_address: places.owner, expiry: 1_800_000_000, signature: '0x5e' },
      },
    ],
    objects: [],
    refusalOf: (body) => {
      const read = readCancel(body)
      if ('refusal' in read || read.proof === undefined) return codeOf(read)
      // The verifier of the proof checks the form of its signature.
      return isSignatureText(read.proof.signature) ? undefined : 'cancel_proof_invalid'
    },
    shapeRefusalOf: (body) => codeOf(readCancel(body)),
    unread: ({ signature }) => [
      'service',
      ...(signature === undefined ? ['signer_address', 'expiry'] : []),
    ],
    beyondSchema: ['invalid_integer', 'invalid_expiry'],
    beyondBody: [],
  },
  reduction: {
    schema: ReduceOrder,
    valid: [
      { owner_address: places.owner, nonce: '7', desired_amount: '0.5' },
      {
        ...{ owner_address: places.owner, nonce: '7', desired_amount: '0', reason: 'done' },
        ...{ signer_address: places.owner, expiry: 1_800_000_000, signature: '0x5e' },
      },
    ],
    objects: [],
    refusalOf: (body) => {
      const read = readReduction(body)
      if ('refusal' in read || read.proof === undefined) return codeOf(read)
      return isSignatureText(read.proof.signature) ? undefined : 'cancel_proof_invalid'
    },
    shapeRefusalOf: (body) => codeOf(readReduction(body)),
    unread: ({ signature }) => [
      'service',
      ...(signature === undefined ? ['signer_address', 'expiry'] : []),
    ],
    beyondSchema: ['invalid_integer', 'invalid_expiry'],
    beyondBody: [],
  },
  'cancel of all orders': {
    ...cancelsOf(CancelAll, (body) => readCancelAll(body, { market: 'cNGN-USDC' })),
    valid: [
      { owner_address: places.owner },
      { ...provenCancel, market: 'cNGN-USDC', side: 'buy', subaccount_id: '7', reason: 'done' },
    ],
    unread: ({ signature }) => ['market', ...(signature === undefined ? PROOF : [])],
  },
  'cancel of a list': {
    ...cancelsOf(CancelList, readCancelOrders),
    valid: [{ ...provenCancel, order_ids: ['a', 'b'], reason: 'done' }],
  },
  'dead-man switch': {
    ...cancelsOf(CancelAllAfter, (body) => readCancelAllAfter(body, { market: 'cNGN-USDC' })),
    valid: [{ ...provenCancel, market: 'cNGN-USDC', seconds: 60 }],
    unread: ({ signature }) => ['market', ...(signature === undefined ? PROOF : [])],
  },
  deposit: {
    schema: NewDeposit,
    valid: [{ ...aDepositBody() }, { ...aDepositBody(), permit }],
    objects: ['action', 'permit'],
    refusalOf: (body) => {
      const read = readTransferBody('deposit', body)
      return codeOf('refusal' in read ? read : validateDeposit(read, transferRules))
    },
    shapeRefusalOf: (body) => codeOf(readTransferBody('deposit', body)),
    beyondSchema: ['invalid_integer'],
    beyondBody: BEYOND_TRANSFER,
  },
  withdrawal: {
    schema: NewWithdrawal,
    valid: [{ ...aWithdrawalBody() }],
    objects: ['action'],
    refusalOf: (body) => {
      const read = readTransferBody('withdrawal', body)
      return codeOf('refusal' in read ? read : validateWithdrawal(read, transferRules))
    },
    shapeRefusalOf: (body) => codeOf(readTransferBody('withdrawal', body)),
    beyondSchema: ['invalid_integer'],
    beyondBody: BEYOND_TRANSFER,
  },
  'sample of the index': {
    schema: IndexStatus,
    valid: [{ at_ms: NOW_MS, usdc_per_cngn: '0.00065', sample_ok: true }],
    objects: [],
    refusalOf: (body) => codeOf(readIndexStatus(isObject(body) ? body : undefined, NOW_MS)),
    shapeRefusalOf: (body) => codeOf(readIndexStatus(isObject(body) ? body : undefined, NOW_MS)),
    beyondSchema: ['index_status_ahead'],
    beyondBody: [],
  },
  'frame subscribe': frameOf(
    'subscribe',
    [
      { op: 'subscribe', channel: 'book', market: 'cNGN-USDC', since_seq: 0, req_id: 'a' },
      { op: 'subscribe', channel: 'orders', since: { 'cNGN-USDC': 7 } },
      { op: 'subscribe', channel: 'levels', market: 'cNGN-USDC', depth: 10 },
      { op: 'subscribe', channel: 'candles', market: 'cNGN-USDC', interval: '1h' },
    ],
    ['bad_channel'],
  ),
  'frame unsubscribe': frameOf(
    'unsubscribe',
    [
      { op: 'unsubscribe', channel: 'book', market: 'cNGN-USDC', req_id: 'a' },
      { op: 'unsubscribe', channel: 'levels', market: 'cNGN-USDC', depth: 10 },
    ],
    ['bad_channel'],
  ),
  'frame ping': frameOf('ping', [{ op: 'ping', req_id: 'a' }]),
  'frame auth': frameOf('auth', [
    {
      ...{ op: 'auth', address: places.owner, signature: `0x${'5e'.repeat(65)}`, nonce: 'n' },
      ...{ issued_at: 1_800_000_000, expiry: 1_800_000_060, req_id: 'a' },
    },
  ]),
  'frame place': frameOf(
    'place',
    [{ op: 'place', req_id: 'a', order: await signedOrderBody() }],
    ['invalid_integer', 'invalid_action_json', ...BEYOND_ORDER],
  ),
  'frame cancel': frameOf(
    'cancel',
    [{ op: 'cancel', req_id: 'a', order: { owner_address: places.owner, nonce: '7' } }],
    ['invalid_integer', 'invalid_expiry'],
  ),
  'frame cancel_on_disconnect': frameOf('cancel_on_disconnect', [
    { op: 'cancel_on_disconnect', seconds: 10, req_id: 'a' },
  ]),
  'frame cancel_all_after': frameOf('cancel_all_after', [
    { op: 'cancel_all_after', seconds: 0, market: 'cNGN-USDC', req_id: 'a' },
  ]),
}
