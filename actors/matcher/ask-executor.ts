import { z } from 'zod'
import type { Hex } from '../../core/action.js'
import type { SettlementOutcome } from '../../core/command.js'
import type { ExecutePayload } from './execute-payload.js'
import { createPoster } from './post-text.js'
import type { PosterOptions, PostText } from './post-text.js'

/** What the executor said about a settlement; `undecided` means: ask again with the same key (decision B5). */
export type ExecutorAnswer =
  | SettlementOutcome
  | { readonly kind: 'undecided'; readonly why: string }
  /** The payload itself is wrong, which only a fault of ours can cause; nothing was sent. */
  | { readonly kind: 'malformed'; readonly why: string }
  /** The key belongs to another call, which may have been sent: nothing can be concluded about ours. */
  | { readonly kind: 'conflict'; readonly why: string }

export type AskExecutor = (
  settlementId: string,
  payload: ExecutePayload,
  signal: AbortSignal,
) => Promise<ExecutorAnswer>

/** Settlements asked of the executor at once; the others wait in the order of their matches. */
export const SETTLEMENTS_MAX_IN_FLIGHT = 2_048

const hex = z.custom<Hex>((value) => typeof value === 'string' && /^0x[0-9a-f]+$/i.test(value))
const guiltySide = z.enum(['maker', 'taker']).optional()
const receipt = z.object({
  tx_hash: hex,
  receipt_status: z.enum(['success', 'reverted', 'timeout']),
  block_number: z
    .string()
    .regex(/^[0-9]+$/)
    .optional(),
  revert: z.string().optional(),
  guilty: guiltySide,
})
const failure = z.object({
  error: z.string(),
  revert: z.string().optional(),
  guilty: guiltySide,
  details: z.array(z.object({ field: z.string() })).optional(),
})

export interface ExecutorAddress {
  readonly url: string
  readonly secret: string | undefined
  /** Longer than the executor itself waits for a receipt. */
  readonly timeoutMs: number
}

/**
 * Asks the executor over HTTP (interface 4.14, decision E6). Never throws: what is not known is `undecided`. `poster`
 * makes the way there; over connections of its own unless told.
 */
export function askExecutorAt(
  { url, secret, timeoutMs }: ExecutorAddress,
  poster: (options: PosterOptions) => PostText = createPoster,
): AskExecutor {
  const target = new URL('/execute', url)
  const post = poster({ url: target, timeoutMs, maxKept: SETTLEMENTS_MAX_IN_FLIGHT })
  const authorization = secret === undefined ? {} : { authorization: `Bearer ${secret}` }
  return async (settlementId, payload, signal) => {
    try {
      const headers = { 'idempotency-key': settlementId, ...authorization }
      const { status, text } = await post(JSON.stringify(payload), headers, signal)
      return readAnswer(status, JSON.parse(text))
    } catch (error) {
      return { kind: 'undecided', why: `no answer: ${(error as Error).message}` }
    }
  }
}

/** Reads the executor's answer; anything unexpected leaves the settlement undecided. */
export function readAnswer(status: number, body: unknown): ExecutorAnswer {
  if (status === 200) return readReceipt(receipt.parse(body))
  const { error, revert, guilty, details = [] } = failure.parse(body)
  if (status === 422) {
    return { kind: 'reverted', revert: revert ?? error, guilty: guilty ?? guiltyOf(revert) }
  }
  // A refusal of the payload names its fields; any other 400 was not about what we asked.
  if (status === 400 && details.length > 0) {
    const isConflict = details.some(({ field }) => field === 'Idempotency-Key')
    return { kind: isConflict ? 'conflict' : 'malformed', why: error }
  }
  return { kind: 'undecided', why: `${status} ${error}` }
}

function readReceipt(body: z.infer<typeof receipt>): ExecutorAnswer {
  const { receipt_status: status, tx_hash: txHash, block_number: block, revert = 'unknown' } = body
  if (status === 'reverted') {
    return { kind: 'reverted', revert, guilty: body.guilty ?? guiltyOf(revert), txHash }
  }
  if (status === 'timeout' || block === undefined) {
    return { kind: 'undecided', why: `${txHash} has no receipt yet` }
  }
  return { kind: 'success', txHash, blockNumber: BigInt(block) }
}

/** What a revert says by itself: only the taker is charged, so only it can have bound its fee too low. */
function guiltyOf(revert: string | undefined): 'taker' | 'both' {
  return revert === 'TM_FeeTooHigh' ? 'taker' : 'both'
}
