import { expect } from 'chai'
import fc from 'fast-check'
import type { z } from 'zod'
import { isSignatureText } from '../../core/entry/read-action.js'
import {
  readCancel,
  readCancelAll,
  readCancelAllAfter,
  readCancelOrders,
  type CancelsBody,
} from '../../core/entry/read-cancels.js'
import { readSubmittedOrder, validateOrder } from '../../core/entry/validate-order.js'
import type { Checked } from '../../core/entry/refusals.js'
import {
  readTransferBody,
  validateDeposit,
  validateWithdrawal,
} from '../../core/entry/validate-transfer.js'
import { CancelAll, CancelAllAfter, CancelList } from '../../interface/cancels.js'
import { CancelOrder, NewOrder } from '../../interface/order.js'
import { NewDeposit, NewWithdrawal } from '../../interface/transfer.js'
import { fitting, hostile, nearly, type Schema } from '../api-gateway/fuzz/arbitrary-json.js'
import { aMarket, signedIntentBody, signedOrderBody } from '../support/builders.js'
import { gatewayDocument } from '../support/documented.js'
import { aDepositBody, aWithdrawalBody, NOW_MS, places } from '../support/transfer-bodies.js'

/**
 * core/entry checks the bodies of requests, interface/ declares their shapes. What core/entry accepts must be declared, and
 * what is declared is refused in shape only for what a schema does not say.
 */

type Fields = Record<string, unknown>

/** A kind of body: its shape, and the two depths at which core/entry reads it. */
interface Kind {
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
  /** Codes for what the schema does not say: ranges of numbers, control characters, fields that need one another. */
  readonly beyondSchema: readonly string[]
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
      ...['signer_address_required', 'issued_at_required', 'expiry_required', 'invalid_integer'],
      ...['invalid_cancel_reason', 'invalid_expiry', 'cancel_proof_too_long', 'invalid_order_ids'],
      ...['invalid_issued_at', 'owner_address_required'],
    ],
  }
}

const kinds: Readonly<Record<string, Kind>> = {
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
    beyondSchema: [
      ...['side_required', 'limit_price_required', 'desired_amount_required'],
      ...['invalid_order_id', 'invalid_integer', 'invalid_signature_form', 'invalid_action_json'],
    ],
  },
  cancel: {
    schema: CancelOrder,
    valid: [
      { owner_address: places.owner, nonce: '7' },
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
    beyondSchema: [
      ...['signer_address_required', 'expiry_required'],
      ...['invalid_integer', 'invalid_cancel_reason', 'invalid_expiry'],
    ],
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
  },
}

const isObject = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** A body without its null and empty fields, which count as absent, also in its objects. */
const present = (body: Fields): Fields =>
  Object.fromEntries(
    Object.entries(body)
      .filter(([, value]) => value !== null && value !== '')
      .map(([name, value]) => [name, isObject(value) ? present(value) : value]),
  )

/** The same value in another spelling that core/entry reads alike. */
function respelled(value: unknown): unknown {
  if (typeof value !== 'string') return value
  if (/^[0-9]+$/.test(value)) return `00${value}`
  if (/^[0-9]+\.[0-9]{1,17}$/.test(value)) return `${value}0`
  if (/^0x[0-9a-f]+$/i.test(value)) return `0x${value.slice(2).toUpperCase()}`
  return value
}

/** Valid bodies, some with a field respelled, replaced, dropped or added, at the top or in one of their objects. */
function bodiesOf({ valid, objects, schema }: Kind): fc.Arbitrary<Fields> {
  const taken = fc.constantFrom(...valid)
  const names = Object.keys(schema.shape)
  const spoiled = objects.map((name) =>
    taken.chain((body) => {
      const inner = body[name]
      if (!isObject(inner)) return fc.constant(body)
      const changed = fc.oneof(
        nearly(fc.constant(inner), Object.keys(inner)),
        fc.constantFrom(...Object.keys(inner)).map((each) => ({
          ...inner,
          [each]: respelled(inner[each]),
        })),
      )
      return changed.map((object) => ({ ...body, [name]: object }))
    }),
  )
  const spelled = fc
    .tuple(taken, fc.subarray(names))
    .map(([body, some]) =>
      Object.fromEntries(
        Object.entries(body).map(([name, value]) => [
          name,
          some.includes(name) ? respelled(value) : value,
        ]),
      ),
    )
  return fc.oneof(taken, spelled, nearly(taken, names), ...spoiled)
}

for (const [name, kind] of Object.entries(kinds)) {
  const { schema, valid, refusalOf, shapeRefusalOf, beyondSchema, unread = () => [] } = kind

  describe(`the body of a new ${name}`, () => {
    it('is declared whenever core/entry accepts it', () => {
      for (const body of valid) expect(refusalOf(body)).to.equal(undefined)
      let accepted = 0
      let refused = 0
      fc.assert(
        fc.property(bodiesOf(kind), (body) => {
          if (refusalOf(body) !== undefined) {
            refused += 1
            return
          }
          accepted += 1
          const read = present(body)
          for (const field of unread(read)) delete read[field]
          const { success, error } = schema.safeParse(read)
          expect(success, error?.message).to.equal(true)
        }),
        { numRuns: 1_000 },
      )
      expect([accepted > 40, refused > 40]).to.deep.equal([true, true])
    })

    it('is refused by core/entry for anything that is no object', () => {
      fc.assert(
        fc.property(
          hostile.filter((value) => !isObject(value)),
          (value) => {
            expect(schema.safeParse(value).success).to.equal(false)
            expect(refusalOf(value)).to.equal('invalid_json')
          },
        ),
      )
    })

    it('is refused in shape only for what the schema does not say, once it fits the schema', () => {
      const named = gatewayDocument.components.schemas as Readonly<Record<string, Schema>>
      const declared = named[schema.meta()?.id ?? ''] ?? {}
      fc.assert(
        fc.property(fitting(declared, named), (body) => {
          expect(schema.safeParse(body).success).to.equal(true)
          expect([undefined, ...beyondSchema]).to.include(shapeRefusalOf(body))
        }),
        { numRuns: 300 },
      )
    })
  })
}
