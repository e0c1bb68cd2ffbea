import { z } from 'zod'
import type { GasStanding } from '../core/transfer.js'
import {
  WIRE_VERSION,
  addressText,
  asAddress,
  decodeMessage,
  encodeMessage,
  uintText,
} from './wire.js'

const standingMessage = z.strictObject({
  v: z.literal(WIRE_VERSION),
  signer: addressText,
  balance_wei: uintText.exactOptional(),
  reserve_wei: uintText,
  hour_budget_wei: uintText,
  hour_spent_wei: uintText,
  paused: z.enum(['gas_reserve', 'gas_budget']).exactOptional(),
})

/** A submitter's answer on `askGasStanding(kind)`. */
export function encodeGasStanding(standing: GasStanding): Uint8Array {
  const { signer, balanceWei, reserveWei, hourBudgetWei, hourSpentWei, paused } = standing
  return encodeMessage({
    signer,
    balance_wei: balanceWei?.toString(),
    reserve_wei: reserveWei.toString(),
    hour_budget_wei: hourBudgetWei.toString(),
    hour_spent_wei: hourSpentWei.toString(),
    paused,
  })
}

/** Throws MalformedMessage, or InvariantBroken on an unknown version. */
export function decodeGasStanding(data: Uint8Array): GasStanding {
  const wire = decodeMessage('gas standing', standingMessage, data)
  const { balance_wei, paused } = wire
  return {
    signer: asAddress(wire.signer),
    ...(balance_wei !== undefined && { balanceWei: BigInt(balance_wei) }),
    reserveWei: BigInt(wire.reserve_wei),
    hourBudgetWei: BigInt(wire.hour_budget_wei),
    hourSpentWei: BigInt(wire.hour_spent_wei),
    ...(paused !== undefined && { paused }),
  }
}
