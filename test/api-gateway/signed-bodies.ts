import { set, setAction, type Change } from '../refusals/rule.js'
import type { OrderBody } from '../support/builders.js'

type Changes = Readonly<Record<string, Change<OrderBody>>>

/** The same order, accepted: what looks unusual and is not wrong. */
export const harmless: Changes = {
  'as it came': set({}),
  'with addresses in another case': (body) => {
    const owner_address = body.owner_address.toLowerCase()
    return { ...setAction({ owner: owner_address })(body), owner_address }
  },
  'without sub_id': set({ sub_id: undefined }),
  'with null for none': set({ ui_intent: null, order_entry_spec: '' }),
  'with unknown fields': set({ more: { of: 'it' } }),
  'with its action as text': (body) => ({
    ...body,
    action_json: JSON.stringify(body.action_json),
  }),
  'with SQL for an id': set({ order_id: "'; DROP TABLE orders;--" }),
  'with a subject for an id': set({ order_id: 'a.*.>' }),
}

const halfOrder = 0x7fffffffffffffffffffffffffffffff5d576e7357a4501ddfe92f46681b20a0n
const curveOrder = 2n * halfOrder + 1n

const sOf = (signature: string): bigint => BigInt(`0x${signature.slice(66, 130)}`)
const withS = (signature: string, s: bigint, v: string): string =>
  signature.slice(0, 66) + s.toString(16).padStart(64, '0') + v

const signature =
  (change: (signature: string) => string): Change<OrderBody> =>
  (body) => ({ ...body, signature: change(body.signature) })

/** Signatures in form that the chain would not take. */
export const badSignatures: Changes = {
  'with one bit flipped': signature(
    (hex) => hex.slice(0, 20) + (parseInt(hex.charAt(20), 16) ^ 1).toString(16) + hex.slice(21),
  ),
  'with the high s': signature((hex) =>
    withS(hex, curveOrder - sOf(hex), hex.endsWith('1b') ? '1c' : '1b'),
  ),
  'with v 0 or 1': signature((hex) => hex.slice(0, -2) + (hex.endsWith('1b') ? '00' : '01')),
  // EIP-2098: the parity in the top bit of s.
  'in 64 bytes': signature((hex) =>
    withS(hex, sOf(hex) | (hex.endsWith('1c') ? 1n << 255n : 0n), ''),
  ),
  'in 66 bytes': signature((hex) => `${hex}00`),
  'of 65 zero bytes': signature(() => `0x${'00'.repeat(65)}`),
  'of another expiry': (body) => setAction({ expiry: `${body.expiry + 1}` })(body),
}
