export type Json = Record<string, unknown>

/** What is read of a signed body of `POST /v1/orders`, whoever signed it. */
export interface SignedBody {
  readonly order_id: string
  readonly owner_address: string
  readonly expiry: number
  readonly signature: string
  readonly action_json: { readonly data?: string }
}

/** Ways to spoil a signed body, each returning another one. */

export const asJson = (body: SignedBody): Json => ({ ...body })

export const set =
  (fields: Json) =>
  (body: SignedBody): Json => ({ ...body, ...fields })

export const drop =
  (field: string) =>
  (body: SignedBody): Json =>
    Object.fromEntries(Object.entries(body).filter(([name]) => name !== field))

export const setAction =
  (fields: Json) =>
  (body: SignedBody): Json => ({ ...body, action_json: { ...body.action_json, ...fields } })

export const setData =
  (change: (data: string) => string) =>
  (body: SignedBody): Json =>
    setAction({ data: change(body.action_json.data ?? '') })(body)

/** Replaces one of the seven signed words, counted from 0, by what it becomes. */
export const setWord = (index: number, change: (word: bigint) => bigint) =>
  setData((data) => {
    const at = 2 + 64 * index
    const word = BigInt(`0x${data.slice(at, at + 64)}`)
    const changed = BigInt.asUintN(256, change(word)).toString(16).padStart(64, '0')
    return data.slice(0, at) + changed + data.slice(at + 64)
  })

export const setSignature =
  (change: (signature: string) => string) =>
  (body: SignedBody): Json => ({ ...body, signature: change(body.signature) })

export const otherAddress = `0x${'12'.repeat(20)}`
const halfOrder = 0x7fffffffffffffffffffffffffffffff5d576e7357a4501ddfe92f46681b20a0n
const curveOrder = 2n * halfOrder + 1n

/** The other signature of the same message: accepted by many libraries, refused by the chain. */
export function highS(signature: string): string {
  const s = curveOrder - BigInt(`0x${signature.slice(66, 130)}`)
  const v = signature.endsWith('1b') ? '1c' : '1b'
  return signature.slice(0, 66) + s.toString(16).padStart(64, '0') + v
}

/** The 64-byte form of EIP-2098: the parity in the top bit of s. */
export function compact(signature: string): string {
  const parity = signature.endsWith('1c') ? 1n << 255n : 0n
  const s = BigInt(`0x${signature.slice(66, 130)}`) | parity
  return signature.slice(0, 66) + s.toString(16).padStart(64, '0')
}

export const flipBit = (hex: string): string =>
  hex.slice(0, 20) + (parseInt(hex.charAt(20), 16) ^ 1).toString(16) + hex.slice(21)
