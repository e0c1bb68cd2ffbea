import { z } from 'zod'
import { TradingStatus } from './market.js'
import { OrderRecord } from './order.js'
import { address, hash, integer, revertName, type Shape, time } from './values.js'

/** The venue itself: error bodies, clock, health and readiness. */

/** Fields that every refusal has. */
const errorFields = {
  error: z.string().describe('What is wrong, in words; the interface fixes many of these texts.'),
  code: z.string().describe('The same, stable and for machines.'),
  field: z.string().optional().describe('The field of the request that is wrong.'),
  detail: z
    .record(z.string(), z.unknown())
    .optional()
    .describe('Facts that help to correct it, for example the nearest valid prices.'),
  request_id: z.string().describe('The same as in `X-Request-Id`.'),
}

/** The body of a refusal. */
export const ErrorBody = z
  .object(errorFields)
  .meta({ id: 'Error', description: 'Why it was refused.' })
export type ErrorBody = Shape<typeof ErrorBody>

/** The body of a 409 on order entry. */
export const DuplicateError = z
  .object({
    ...errorFields,
    order: OrderRecord.optional().describe(
      'The stored order, when the same signed order is sent again. Without it, `detail.held_by` says why: `another_order` has the id or the nonce, or `an_order_no_longer_stored`, the same one, ended without a fill more than 30 days ago or was refused.',
    ),
  })
  .meta({
    id: 'DuplicateError',
    description:
      'The id or the nonce is taken, and the market has decided the order that has it. While it has not, a repeat is answered 500 `outcome_unknown`.',
  })
export type DuplicateError = Shape<typeof DuplicateError>

/** The body of a refused deposit or withdrawal. */
export const TransferError = z
  .object({
    ...errorFields,
    revert: revertName.optional(),
    action_hash: hash.optional().describe('With 502: what to look up.'),
    tx_hash: hash.optional().describe('With 502: what was sent last.'),
  })
  .meta({ id: 'TransferError', description: 'Why nothing was submitted, or that it is not known.' })
export type TransferError = Shape<typeof TransferError>

/** The body of a 400 on order entry. */
export const OrderError = z
  .object({
    ...errorFields,
    message: z.string().optional().describe('With `trading_paused`: why no new orders are taken.'),
  })
  .meta({ id: 'OrderError', description: 'Why the order was refused.' })
export type OrderError = Shape<typeof OrderError>

/** The body of a refused read that names a market. */
export const MarketError = z
  .object({
    ...errorFields,
    message: z.string().optional().describe('With `unknown_market`: which name was not found.'),
    markets: z
      .array(z.string())
      .optional()
      .describe('With `unknown_market`: the identifiers that exist.'),
  })
  .meta({ id: 'MarketError', description: 'An unknown market or another bad parameter.' })
export type MarketError = Shape<typeof MarketError>

/** Markets that do not trade as usual, by identifier. */
const notOpen = z
  .record(z.string(), TradingStatus)
  .optional()
  .describe('Listed markets that are not `open`; absent when all are.')

/** How many pairs of signers wait, by market. */
const waitingPairs = z
  .record(z.string(), z.int().min(1))
  .optional()
  .describe(
    'Markets in which pairs of signers wait, because matches of theirs failed twice or more and the chain did not show why; absent when none does. Nothing else waits for them.',
  )

/** The body of `GET /readyz` with 503. */
export const NotReady = z
  .object({
    ...errorFields,
    missing: z.record(z.string(), z.string()).describe('What is not ready, and why.'),
    markets: notOpen,
    waiting_pairs: waitingPairs,
  })
  .meta({ id: 'NotReady', description: 'Parts that do not answer.' })
export type NotReady = Shape<typeof NotReady>

/** The body of `GET /readyz` with 200. */
export const Ready = z
  .object({ status: z.literal('ready'), markets: notOpen, waiting_pairs: waitingPairs })
  .meta({ id: 'Ready', description: 'Every part answers.' })
export type Ready = Shape<typeof Ready>

/** The body of `GET /healthz`. */
export const Alive = z
  .object({ status: z.literal('ok') })
  .meta({ id: 'Alive', description: 'The process answers.' })
export type Alive = Shape<typeof Alive>

/** The body of `GET /v1/time`. */
export const Clock = z
  .object({ now: time, unix_ms: z.int() })
  .meta({ id: 'Clock', description: 'One moment, twice.' })
export type Clock = Shape<typeof Clock>

/** What `GET /v1/health` says of a market. */
export const MarketHealth = z.object({
  ...TradingStatus.shape,
  trouble: z.string().optional().describe('What keeps the market’s matcher from its work.'),
  head_seq: z.int().min(0).optional().describe('Newest change that was published.'),
  projected_seq: z.int().min(0).describe('Newest change that reads show.'),
  lag: z.int().min(0).optional().describe('How many changes reads are behind.'),
  pending_settlements: z
    .int()
    .min(0)
    .optional()
    .describe(
      'Matches whose outcome on the chain is not known yet. This and the next two are absent while the market’s matcher does not answer.',
    ),
  oldest_pending_settlement_s: z
    .int()
    .min(0)
    .optional()
    .describe('Seconds for which the oldest of them has waited; 0 without any.'),
  late_settlements: z
    .int()
    .min(0)
    .optional()
    .describe(
      'How many have waited for longer than they should: then `status` is `degraded`. They resolve by themselves once the chain can be read.',
    ),
  waiting_pairs: z
    .int()
    .min(0)
    .optional()
    .describe(
      'Pairs of signers that do not match each other for a while, because two matches or more of theirs failed on the chain, which did not show why. Both match others.',
    ),
})
export type MarketHealth = Shape<typeof MarketHealth>

/** What `GET /v1/health` says of deposits, and of withdrawals. */
export const TransfersHealth = z
  .object({
    status: z
      .enum(['open', 'paused', 'unavailable'])
      .describe('`unavailable`: their submitter, or the chain, does not answer.'),
    paused: z
      .enum(['gas_reserve', 'gas_budget'])
      .optional()
      .describe('Why: the wallet is below its reserve, or the hour’s gas is spent.'),
    gas: z
      .object({
        signer: address.describe('The wallet that pays.'),
        balance_wei: integer.optional().describe('Absent while the chain cannot be read.'),
        reserve_wei: integer.describe('Below this nothing is submitted.'),
        hour_budget_wei: integer,
        hour_spent_wei: integer,
      })
      .optional(),
  })
  .meta({ id: 'TransfersHealth', description: 'Deposits or withdrawals, and the gas behind them.' })
export type TransfersHealth = Shape<typeof TransfersHealth>

/** What `GET /v1/health` says of the chain; the block is the newest that was processed. */
export const ChainHealth = z.object({
  status: z.enum(['ok', 'degraded']),
  detail: z.string(),
  block_number: z.int().min(0).optional(),
  block_time: time.optional(),
})
export type ChainHealth = Shape<typeof ChainHealth>

/** The body of `GET /v1/health`. */
export const Health = z
  .object({
    status: z.enum(['ok', 'degraded']),
    now: time,
    version: z.string().describe('The release of this software that answers.'),
    markets: z.record(z.string(), MarketHealth),
    deposits: TransfersHealth,
    withdrawals: TransfersHealth,
    chain: ChainHealth.describe(
      'How well the venue sees what accounts hold. While it does not, trading goes on with what was seen last.',
    ),
  })
  .meta({
    id: 'Health',
    description: 'The venue market by market, and whether money moves in and out.',
  })
export type Health = Shape<typeof Health>

/** The header by which an owner proves its address to the order history, fills and cancels. */
export const serviceAuthHeader = z
  .string()
  .regex(/^[A-Za-z0-9_-]+={0,2}$/)
  .meta({
    id: 'ServiceAuth',
    description:
      'Base64url of the JSON `{address, signature, nonce, issued_at, expiry}`, the signature an EIP-191 one over the ' +
      'text for order history. Good for every request until it expires, at most 24 hours. A session key of the address ' +
      'may sign the same text: then `signer_address` names it, and it is looked up at each request.',
  })
