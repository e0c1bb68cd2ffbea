import type { z } from 'zod'
import { isSignatureText } from '../../core/entry/read-action.js'
import {
  readCancel,
  readCancelAll,
  readCancelAllAfter,
  readCancelOrders,
  type CancelsBody,
} from '../../core/entry/read-cancels.js'
import {
  isReplacement,
  readBatch,
  readReduction,
  readReplacement,
} from '../../core/entry/read-change.js'
import { readIndexStatus } from '../../core/entry/read-index-status.js'
import { readSubmittedOrder, validateOrder } from '../../core/entry/validate-order.js'
import type { OrRefusal } from '../../core/entry/refusals.js'
import {
  readTransferBody,
  validateDeposit,
  validateWithdrawal,
} from '../../core/entry/validate-transfer.js'
import { CancelAll, CancelAllAfter, CancelList } from '../../interface/cancels.js'
import { CancelOrder, NewOrder } from '../../interface/order.js'
import { PlaceBatch, ReduceOrder, ReplaceOrder } from '../../interface/order-changes.js'
import { IndexStatus } from '../../interface/perpetual.js'
import { NewDeposit, NewWithdrawal } from '../../interface/transfer.js'
import { signedIntentBody, signedOrderBody } from '../support/builders.js'
import { aDepositBody, aWithdrawalBody, NOW_MS, places } from '../support/transfer-bodies.js'
import { frameKinds } from './frame-kinds.js'
import { BEYOND_ORDER, codeOf, isObject, markets, type Kind } from './kind.js'

const transferRules = {
  depositModule: places.depositModule,
  withdrawalModule: places.withdrawalModule,
  cashAsset: places.cashAsset,
  perpManager: places.perpManager,
  nowMs: NOW_MS,
  withdrawable: [places.wrappedUsdc, places.wrappedCngn],
}
const intent = { side: 'buy', price: '1530', size: '100' } as const
const permit = { value: '25000000', deadline: '1800000000', signature: `0x${'5e'.repeat(65)}` }

/** The same of a deposit and a withdrawal. */
const BEYOND_TRANSFER = [
  ...['action_expired', 'action_expiry_too_far', 'signer_not_owner', 'wrong_module'],
  ...['invalid_action_data', 'subaccount_zero'],
]

const PROOF = ['signer_address', 'issued_at', 'expiry']
const provenCancel = {
  owner_address: places.owner,
  signer_address: places.owner,
  signature: '0x5e',
  issued_at: 1_800_000_000,
  expiry: 1_800_000_060,
}

/** What the cancels of many orders share. */
function cancelsOf(
  schema: z.ZodObject,
  read: (body: unknown) => OrRefusal<CancelsBody<unknown>>,
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

/** The first refusal of a batch, with that of an order as it is judged alone. */
function refusalOfBatch(
  body: unknown,
  refusalOf: (order: unknown) => string | undefined,
): string | undefined {
  const read = readBatch(body)
  if ('refusal' in read) return codeOf(read)
  const refusals = read.orders.map((sent) => {
    if (!isReplacement(sent)) return refusalOf(sent)
    const replacement = readReplacement(sent)
    return 'order' in replacement ? refusalOf(replacement.order) : codeOf(replacement)
  })
  return refusals.find(Boolean)
}

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
    valid: [
      {
        orders: [
          ...[await signedOrderBody(), await signedIntentBody(intent)],
          { ...(await signedOrderBody()), replaces_nonce: '7' },
        ],
      },
    ],
    objects: [],
    refusalOf: (body) =>
      refusalOfBatch(body, (order) => codeOf(validateOrder(order, { markets, nowMs: NOW_MS }))),
    shapeRefusalOf: (body) =>
      refusalOfBatch(body, (order) => {
        const read = readSubmittedOrder(order)
        return codeOf(read) ?? codeOf('signed' in read ? read.signed : {})
      }),
    beyondSchema: ['invalid_integer', 'invalid_action_json'],
    beyondBody: BEYOND_ORDER,
  },
  cancel: {
    schema: CancelOrder,
    valid: [
      { owner_address: places.owner, nonce: '7' },
      { owner_address: places.owner, order_id: 'order-7' },
      {
        owner_address: places.owner,
        nonce: '7',
        reason: 'done',
        service: 'a',
        signer_address: places.owner,
        expiry: 1_800_000_000,
        signature: '0x5e',
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
        owner_address: places.owner,
        nonce: '7',
        desired_amount: '0',
        reason: 'done',
        signer_address: places.owner,
        expiry: 1_800_000_000,
        signature: '0x5e',
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
  ...frameKinds,
}
