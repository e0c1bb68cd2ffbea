/**
 * The readers of numbers, words and required fields as one would write them first, with a pattern each and no thought of
 * their cost. What the venue reads must be what they read.
 */

export function plainDecimal(text: unknown, decimals: number): bigint | undefined {
  if (typeof text !== 'string' || !/^[0-9]+(\.[0-9]+)?$/.test(text)) return undefined
  const [whole = '', fraction = ''] = text.split('.')
  if (whole.length + fraction.length > 78 || fraction.length > decimals) return undefined
  return BigInt(whole + fraction.padEnd(decimals, '0'))
}

export function plainInteger(text: unknown, max: bigint): bigint | undefined {
  if (typeof text !== 'string' || !/^[0-9]{1,78}$/.test(text)) return undefined
  return BigInt(text) <= max ? BigInt(text) : undefined
}

export function plainWords(data: string, count: number): bigint[] | undefined {
  if (!new RegExp(`^0x([0-9a-fA-F]{64}){${count}}$`).test(data)) return undefined
  return Array.from({ length: count }, (_, index) =>
    BigInt(`0x${data.slice(2 + index * 64, 66 + index * 64)}`),
  )
}

const INTEGER = /^[0-9]{1,78}$/
const ADDRESS = /^0x[0-9a-fA-F]{40}$/
const isInteger = (value: unknown): boolean =>
  typeof value === 'string' && INTEGER.test(value) && BigInt(value) < 2n ** 256n
const isAddress = (value: unknown): boolean => typeof value === 'string' && ADDRESS.test(value)

/** The code of the first thing that is wrong with the fields of an order by themselves; undefined when nothing is. */
export function plainBodyFault(body: Readonly<Record<string, unknown>>): string | undefined {
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
  if (orderId.length > 128 || /[\p{Cc}\p{Cs}]/u.test(orderId)) return 'invalid_order_id'
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
