import { expect } from 'chai'
import fc from 'fast-check'
import { parseDecimal, parseInteger } from '../../../core/decimal.js'
import { decodeTradeData, readWords, writeWords } from '../../../core/entry/read-action.js'
import { readOrderBody } from '../../../core/entry/order-body.js'
import { signedIntentBody, signedOrderBody } from '../../support/builders.js'
import { runs } from '../../support/property-runs.js'

/**
 * The readers of numbers, words and required fields as one would write them first, with a pattern each and no thought of
 * their cost. What the venue reads must be what they read.
 */

function plainDecimal(text: unknown, decimals: number): bigint | undefined {
  if (typeof text !== 'string' || !/^[0-9]+(\.[0-9]+)?$/.test(text)) return undefined
  const [whole = '', fraction = ''] = text.split('.')
  if (whole.length + fraction.length > 78 || fraction.length > decimals) return undefined
  return BigInt(whole + fraction.padEnd(decimals, '0'))
}

function plainInteger(text: unknown, max: bigint): bigint | undefined {
  if (typeof text !== 'string' || !/^[0-9]{1,78}$/.test(text)) return undefined
  return BigInt(text) <= max ? BigInt(text) : undefined
}

function plainWords(data: string, count: number): bigint[] | undefined {
  if (!new RegExp(`^0x([0-9a-fA-F]{64}){${count}}$`).test(data)) return undefined
  return Array.from({ length: count }, (_, index) =>
    BigInt(`0x${data.slice(2 + index * 64, 66 + index * 64)}`),
  )
}

const NO_ORDER_ID = 'invalid_order_id'
const INTEGER = /^[0-9]{1,78}$/
const ADDRESS = /^0x[0-9a-fA-F]{40}$/
const isInteger = (value: unknown): boolean =>
  typeof value === 'string' && INTEGER.test(value) && BigInt(value) < 2n ** 256n
const isAddress = (value: unknown): boolean => typeof value === 'string' && ADDRESS.test(value)

/** The code of the first thing that is wrong with the fields of an order by themselves; undefined when nothing is. */
function plainBodyFault(body: Readonly<Record<string, unknown>>): string | undefined {
  const isThere = (name: string) => !['', null, undefined].includes(body[name] as string)
  const isDerived = isThere('order_entry_spec') || isThere('ui_intent')
  const required = [
    ...['order_id', 'asset_address', 'nonce'],
    ...(isDerived ? [] : ['limit_price', 'desired_amount']),
    ...['signature', 'owner_address', 'signer_address', 'subaccount_id', 'recipient_id'],
    ...['worst_fee', ...(isDerived ? [] : ['side'])],
  ]
  const missing = required.find((name) => !isThere(name))
  if (missing !== undefined) return `${missing}_required`
  const { order_id: orderId, sub_id: subId, signature } = body
  if (typeof orderId !== 'string') return 'invalid_text'
  const characters = Array.from(orderId)
  if (characters.length > 128 || characters.every((each) => /\s/.test(each))) return NO_ORDER_ID
  if (/^\.\.?$/.test(orderId) || /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{DI}]/u.test(orderId))
    return NO_ORDER_ID
  const integers = ['nonce', 'subaccount_id', 'recipient_id', 'worst_fee']
  if (!integers.every((name) => isInteger(body[name]))) return 'invalid_integer'
  if (!['owner_address', 'signer_address'].every((name) => isAddress(body[name]))) {
    return 'invalid_address'
  }
  if (isThere('sub_id') && !(isInteger(subId) && BigInt(subId as string) < 2n ** 96n)) {
    return 'invalid_integer'
  }
  const isSignature =
    typeof signature === 'string' && /^0x([0-9a-fA-F]{2}){1,4096}$/.test(signature)
  return isSignature ? undefined : 'invalid_signature_form'
}

const digits = (most: number) =>
  fc.string({ unit: fc.constantFrom(...'0123456789'), maxLength: most })
const decimalText = fc.oneof(
  digits(80),
  fc.tuple(digits(70), digits(25)).map(([whole, fraction]) => `${whole}.${fraction}`),
  fc.string({ unit: fc.constantFrom(...'0019.-+e_ ٣'), maxLength: 12 }),
  fc.constantFrom('.', '0.', '.0', '1.2.3', '0x1', '', '-1', '999999999999999', '9999999999999999'),
)

const good = [
  await signedOrderBody(),
  await signedIntentBody({ side: 'buy', price: '1530', size: '100' }),
]
const names = [
  ...new Set(good.flatMap((body) => Object.keys(body))),
  'filled_amount',
  ...['reduce_only', 'time_in_force', 'post_only'],
]
const values = fc.oneof(
  fc.jsonValue(),
  fc.string({ unit: 'binary', maxLength: 140 }),
  decimalText,
  fc.constantFrom<unknown>(
    '',
    ' \t\u00a0',
    null,
    undefined,
    0,
    `0x${'aB'.repeat(20)}`,
    '0xabc',
    '0x',
    '0',
  ),
  fc.constantFrom(
    'a\u0000',
    'a\u007f',
    '\ud800',
    '\u{1f600}',
    'é',
    'x'.repeat(128),
    'x'.repeat(129),
    ...['.', '..', '...', 'a\u200bb', '\u202e', '\ufeff', '\u2028', '\u{1f600}'.repeat(128)],
  ),
  fc.bigInt({ min: 0n, max: 2n ** 260n }).map(String),
)

describe('what is read without patterns is what patterns read', () => {
  it('decimals', () => {
    fc.assert(
      fc.property(decimalText, fc.constantFrom(0, 6, 10, 18, 30), (text, decimals) => {
        expect(parseDecimal(text, decimals)).to.equal(plainDecimal(text, decimals))
      }),
      { numRuns: runs(3_000) },
    )
  })

  it('integers', () => {
    const max = fc.constantFrom(2n ** 256n - 1n, 2n ** 96n - 1n, 9n)
    fc.assert(
      fc.property(decimalText, max, (text, most) => {
        expect(parseInteger(text, most)).to.equal(plainInteger(text, most))
      }),
      { numRuns: runs(3_000) },
    )
  })

  it('words', () => {
    const word = fc.oneof(
      fc.bigInt({ min: -(2n ** 255n), max: 2n ** 256n - 1n }),
      fc.nat().map(BigInt),
      fc.constantFrom(0n, 1n, 2n ** 52n - 1n, 2n ** 52n, 2n ** 53n, 2n ** 160n - 1n, 2n ** 160n),
    )
    fc.assert(
      fc.property(fc.array(word, { minLength: 7, maxLength: 7 }), fc.boolean(), (sent, upper) => {
        const written = writeWords(sent)
        const data = upper ? `0x${written.slice(2).toUpperCase()}` : written
        const words = plainWords(data, 7)!
        expect(readWords(data, 7)).to.deep.equal(words)
        const [asset, subId, limitPrice, desiredAmount, worstFee, recipientId, flag] = words
        const decoded = decodeTradeData(data)
        const isDirty = asset! >= 2n ** 160n || flag! > 1n
        expect('refusal' in decoded).to.equal(isDirty)
        if ('refusal' in decoded) return
        expect(BigInt(decoded.data.asset)).to.equal(asset)
        expect(decoded.data.asset).to.match(/^0x[0-9a-f]{40}$/)
        expect(decoded.data).to.deep.include({
          subId,
          worstFee,
          recipientId,
          isBid: flag === 1n,
          limitPrice: BigInt.asIntN(256, limitPrice!),
          desiredAmount: BigInt.asIntN(256, desiredAmount!),
        })
      }),
      { numRuns: runs(1_000) },
    )
  })

  it('the fields of an order, and which of two faults comes first', () => {
    const fault = fc.record({ name: fc.constantFrom(...names), value: values })
    fc.assert(
      fc.property(fc.constantFrom(...good), fc.array(fault, { maxLength: 2 }), (body, faults) => {
        const changed = Object.fromEntries(faults.map(({ name, value }) => [name, value]))
        const sent: Record<string, unknown> = { ...body, ...changed }
        const read = readOrderBody(sent)
        expect('refusal' in read ? read.refusal.code : undefined).to.equal(plainBodyFault(sent))
      }),
      { numRuns: runs(3_000) },
    )
  })
})
