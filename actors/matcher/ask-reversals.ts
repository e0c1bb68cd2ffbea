import { z } from 'zod'
import type { SettlementTruth } from '../../core/settlement-trail.js'
import type { Hex } from '../../core/action.js'
import type { ExecutorAddress } from './ask-executor.js'

/** A settlement of which the chain, in the end, says something else than it did before. */
export interface ReportedReversal {
  /** Rising, from 1. */
  readonly no: number
  readonly settlementId: string
  /** For good. */
  readonly now: SettlementTruth
}

/** The executor's reversals above a number, in order, a page of them; text when they could not be read, and why. */
export type AskReversals = (
  after: number,
  signal: AbortSignal,
) => Promise<readonly ReportedReversal[] | string>

const hex = z.custom<Hex>((value) => typeof value === 'string' && /^0x[0-9a-f]+$/i.test(value))
const now = z.discriminatedUnion('status', [
  z.object({
    status: z.literal('success'),
    tx_hash: hex,
    block_number: z.string().regex(/^[0-9]+$/),
  }),
  z.object({ status: z.literal('reverted'), revert: z.string() }),
])
const page = z.object({
  reversals: z.array(z.object({ no: z.int().positive(), settlement_id: z.string(), now })),
})

/** Asks the executor over HTTP. Never throws. */
export function askReversalsAt({ url, secret, timeoutMs }: ExecutorAddress): AskReversals {
  return async (after, signal) => {
    const giveUp = new AbortController()
    const abort = (): void => giveUp.abort()
    const timer = setTimeout(abort, timeoutMs)
    signal.addEventListener('abort', abort)
    try {
      const response = await fetch(new URL(`/reversals?after=${after}`, url), {
        headers: secret === undefined ? {} : { authorization: `Bearer ${secret}` },
        signal: giveUp.signal,
      })
      if (response.status !== 200) return `the executor answers ${response.status}`
      return page.parse(await response.json()).reversals.map(readReversal)
    } catch (error) {
      return `no answer: ${(error as Error).message}`
    } finally {
      clearTimeout(timer)
      signal.removeEventListener('abort', abort)
    }
  }
}

function readReversal(row: z.infer<typeof page>['reversals'][number]): ReportedReversal {
  const { no, settlement_id: settlementId, now: truth } = row
  if (truth.status === 'reverted') {
    return { no, settlementId, now: { kind: 'reverted', revert: truth.revert } }
  }
  const { tx_hash: txHash, block_number: block } = truth
  return { no, settlementId, now: { kind: 'success', txHash, blockNumber: BigInt(block) } }
}
