import fc from 'fast-check'
import type { Refusal } from '../../core/entry/refusals.js'
import type { TransferRefusal } from '../../core/entry/transfer-refusals.js'
import { anyText } from '../support/arbitraries.js'

/** Refusals as messages carry them. */

const anyDetail = fc.dictionary(anyText, fc.oneof(anyText, fc.integer(), fc.array(anyText)))
const refusalFields = {
  code: anyText,
  status: fc.integer({ min: 400, max: 599 }),
  message: anyText,
  field: anyText,
  detail: anyDetail,
  extra: anyDetail,
  existingOrderId: anyText,
}
const requiredKeys = ['code', 'status', 'message'] as const
const decided = fc.record({ market: anyText, seq: fc.nat() })
export const anyRefusal = fc.record(
  { ...refusalFields, decided },
  { requiredKeys: [...requiredKeys] },
) as fc.Arbitrary<Refusal>
export const anyTransferRefusal = fc.record(
  { ...refusalFields, revert: anyText, retryAfterSec: fc.nat() },
  { requiredKeys: [...requiredKeys] },
) as fc.Arbitrary<TransferRefusal>
