import { z } from 'zod'
import { ActionJson } from './order.js'
import {
  hash,
  integer,
  revertDetail,
  revertName,
  sentAddress,
  sentHex,
  sentInteger,
  type Shape,
} from './values.js'

/** The execution service (sections 2.10 and 4.14): what the matcher asks, and what the executor answers. */

/** More makers than fit the gas of one transaction on the target chain. */
const MAX_ACTIONS = 33
const MAX_ID_LENGTH = 512

const id = z.string().min(1).max(MAX_ID_LENGTH)
const positive = sentInteger.regex(/[1-9]/, 'must be greater than zero')

/** One fill of a match. Price and fee are at 1e18, the amount at the market's amount scale. */
const FillDetail = z.object({
  filled_account: sentInteger,
  amount_filled: positive,
  price: positive,
  fee: sentInteger,
})

/** The body of `POST /execute`: one taker and its makers. Integers are base-10 text; unknown fields are ignored. */
export const ExecuteRequest = z.object({
  market: id,
  asset_address: sentAddress,
  module_address: sentAddress,
  maker_order_id: id,
  taker_order_id: id,
  maker_order_ids: z
    .array(id)
    .optional()
    .describe('One for each fill; the first is `maker_order_id`.'),
  actions: z
    .array(ActionJson)
    .min(2)
    .max(MAX_ACTIONS)
    .describe('The taker first, then each maker.'),
  signatures: z.array(sentHex).describe('One for each action.'),
  order_data: z.object({
    taker_account: sentInteger,
    taker_fee: sentInteger,
    fill_details: z
      .array(FillDetail)
      .min(1)
      .describe('`fill_details[i]` belongs to `actions[i + 1]`.'),
    manager_data: sentHex,
  }),
})
export type ExecuteRequest = Shape<typeof ExecuteRequest>

const detail = revertDetail.optional()
const guilty = z
  .enum(['maker', 'taker', 'both', 'venue'])
  .optional()
  .describe('What is at fault, as far as the chain shows it; `venue`: no order is.')

const codeSigners = z
  .array(z.string())
  .max(2)
  .optional()
  .describe(
    'Signers of a failed match that were code where it failed: contracts, and keys that delegated to one.',
  )

/** Answer 200: the transaction. `timeout` leaves the outcome open: ask again with the same `Idempotency-Key`. */
export const ExecuteReceipt = z.object({
  accepted: z.boolean().describe('False for `reverted`.'),
  tx_hash: hash,
  receipt_status: z.enum(['success', 'reverted', 'timeout']),
  block_number: integer.optional().describe('Absent for `timeout`.'),
  mark_price: integer
    .optional()
    .describe('Futures: the mark at which the chain booked the match, cNGN per USDC at 1e18.'),
  gas_cost: integer
    .optional()
    .describe(
      'What the share of the match in the gas of its transaction cost, in USDC at 1e18, rounded up; absent for `timeout`, and where it could not be read.',
    ),
  revert: revertName.optional().describe('For `reverted`.'),
  detail,
  guilty,
  code_signers: codeSigners,
})
export type ExecuteReceipt = Shape<typeof ExecuteReceipt>

/**
 * Every other answer. 400 with `details`: nothing was sent, unless it names the field `Idempotency-Key`, which belongs
 * to another call; with `guilty`, the executor knows another market than the log has. 422 with `details`:
 * the venue does not settle this match, and nothing was sent; with `revert`: the simulation reverted. 502 and 503: ask again.
 */
export const ExecuteFailure = z.object({
  error: z.string(),
  details: z.array(z.object({ field: z.string(), message: z.string() })).optional(),
  revert: revertName.optional(),
  detail,
  guilty,
  code_signers: codeSigners,
  spent_elsewhere: z
    .boolean()
    .optional()
    .describe('An account lacks what a match of another market took of it first.'),
  tx_hash: hash.optional().describe('Of a transaction whose outcome is unknown.'),
})
export type ExecuteFailure = Shape<typeof ExecuteFailure>

/** A reported outcome of a settlement that is not the final one. */
export const ReversalRecord = z.object({
  no: z.int().min(1).describe('Counts from 1.'),
  settlement_id: z.string(),
  before: z
    .object({
      status: z.enum(['success', 'reverted']),
      revert: revertName.optional(),
      detail,
      tx_hash: hash,
      block_number: integer,
    })
    .describe('As it was reported.'),
  now: z
    .discriminatedUnion('status', [
      z.object({ status: z.literal('success'), tx_hash: hash, block_number: integer }),
      z.object({
        status: z.literal('reverted'),
        revert: revertName,
        detail,
        tx_hash: hash.optional().describe('Absent when no transaction carried it out.'),
        block_number: integer.optional(),
      }),
    ])
    .describe('The final outcome.'),
})
export type ReversalRecord = Shape<typeof ReversalRecord>

/** The answer of `GET /reversals`. */
export const ReversalsPage = z.object({
  reversals: z.array(ReversalRecord).describe('In order of `no`.'),
})
export type ReversalsPage = Shape<typeof ReversalsPage>

/** The body of `POST /accept-foreign`: the foreign transaction for which the executor takes nothing. */
export const AcceptForeignRequest = z.object({ tx_hash: z.string().regex(/^0x[0-9a-fA-F]{64}$/) })

/** Its answer: the nonces of the key that the executor had not used itself, with what used them. */
export const AcceptForeignAnswer = z.object({
  transactions: z.array(z.object({ evm_nonce: z.int(), tx_hash: hash, block_number: integer })),
})
export type AcceptForeignAnswer = Shape<typeof AcceptForeignAnswer>

/** The answer of `GET /faults`. */
export const FaultsAnswer = z.object({
  faults: z
    .record(z.string(), revertName)
    .describe(
      'The revert with which the chain refuses every match, by market; no order is at fault.',
    ),
})
export type FaultsAnswer = Shape<typeof FaultsAnswer>
