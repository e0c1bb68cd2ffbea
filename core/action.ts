/**
 * The signed Action and the words of its data. `ActionJson` is the wire form, kept exactly as the
 * client sent it because the order record returns it; `Action` is the same with numbers read and addresses lowered.
 */
export type { ActionJson } from '../interface/order.js'
export type { SigningVector, SigningVectors } from '../interface/signing.js'

export type Hex = `0x${string}`
/** `0x` and 40 hex digits, always lower-case inside the venue. */
export type Address = Hex

export interface Action {
  readonly subaccountId: bigint
  readonly nonce: bigint
  readonly module: Address
  readonly data: Hex
  /** Unix seconds, any uint256: the chain accepts the action while block time is not later. */
  readonly expiry: bigint
  readonly owner: Address
  readonly signer: Address
}

/** The seven words of a trade action's data; prices and amounts are signed 1e18 integers as the chain reads them. */
export interface TradeData {
  readonly asset: Address
  readonly subId: bigint
  readonly limitPrice: bigint
  readonly desiredAmount: bigint
  readonly worstFee: bigint
  readonly recipientId: bigint
  readonly isBid: boolean
}
