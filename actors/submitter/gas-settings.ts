import { z } from 'zod'
import { SUBMITTER_ANSWERS_WITHIN_MS } from '../../bus-schemas/transfer-requests.js'
import type { Hex } from '../../core/action.js'

/** An amount of wei in decimal digits. */
export const weiText = (standard: string) =>
  z
    .string()
    .regex(/^[0-9]{1,30}$/, 'must be whole wei in decimal digits')
    .default(standard)
    .transform((digits) => BigInt(digits))

/** A key of 32 bytes. */
export const keyText = z.custom<Hex>(
  (value) => typeof value === 'string' && /^0x[0-9a-fA-F]{64}$/.test(value),
  'must be 0x and 64 hex digits',
)

/** 0.01 and 0.2 ether. */
export const GAS_RESERVE_WEI = '10000000000000000'
export const GAS_BUDGET_WEI_PER_HOUR = '200000000000000000'

/** Longest wait for a receipt that still leaves time to answer before the asker gives up. */
export const waitMs = z.coerce
  .number()
  .int()
  .min(100)
  .max(SUBMITTER_ANSWERS_WITHIN_MS)
  .default(10_000)
