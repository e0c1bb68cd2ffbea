import { setTimeout as delay } from 'node:timers/promises'
import { BaseError, createPublicClient, http, type HttpTransport, type PublicClient } from 'viem'
import { checkAnswer } from './answer-form.js'
import type { HangUp } from './hang-up.js'
import { checkChainOf, refuseOtherChain } from './node-chain.js'
import { hasMetRateLimit } from './rate-limit.js'
import { ReadFailure, throwDefect } from './read-failure.js'

/**
 * The purpose of a client. `read`: facts, retried and batched. `long`: facts with long answers, retried and not
 * batched. `probe`: facts for callers that can do without an answer; tried once, with a short time-out. `judge`: calls
 * that run a foreign contract, with a short time-out and not batched. `submit`: transactions; tried once, because the
 * caller must see an unclear answer.
 */
export type ClientPurpose = 'read' | 'long' | 'probe' | 'judge' | 'submit'

export type ChainClient = PublicClient

const TIMEOUT_MS = 5_000
/** Shorter than an order waits for the chain, so that an order can still be judged without the answer. */
const JUDGE_TIMEOUT_MS = 1_000
const MAX_CALLS_PER_BATCH = 100

const TRANSPORT = {
  read: { retryCount: 2, timeout: TIMEOUT_MS, batch: { batchSize: MAX_CALLS_PER_BATCH } },
  long: { retryCount: 2, timeout: TIMEOUT_MS },
  probe: { retryCount: 0, timeout: JUDGE_TIMEOUT_MS, batch: { batchSize: MAX_CALLS_PER_BATCH } },
  judge: { retryCount: 0, timeout: JUDGE_TIMEOUT_MS },
  submit: { retryCount: 0, timeout: TIMEOUT_MS },
} as const

/**
 * A client of the node at `rpcUrl`, without a cache and without off-chain look-ups (EIP-3668). Connects on first use. Once
 * `hangUp` has hung up, each question fails with HungUp.
 */
export function createChainClient(
  rpcUrl: string,
  purpose: ClientPurpose,
  hangUp?: HangUp,
): ChainClient {
  return createPublicClient({
    transport: withCheckedAnswers(http(rpcUrl, TRANSPORT[purpose]), rpcUrl, hangUp),
    cacheTime: 0,
    ccipRead: false,
  })
}

/**
 * An answer in another form than its question has is an OddAnswer, one of a node on another chain than the process an
 * OtherChain, and one that is not awaited any more a HungUp; viem neither wraps these nor asks for them again.
 */
function withCheckedAnswers(
  transport: HttpTransport,
  rpcUrl: string,
  hangUp: HangUp | undefined,
): HttpTransport {
  return (options) => {
    const node = transport(options)
    const ask = node.request as (asked: RpcQuestion, more?: unknown) => Promise<unknown>
    const request = async (asked: RpcQuestion, more?: unknown): Promise<unknown> => {
      refuseOtherChain(rpcUrl, asked.method)
      const answer = await (hangUp?.answered(() => ask(asked, more)) ?? ask(asked, more))
      checkAnswer(asked.method, answer)
      checkChainOf(rpcUrl, asked.method, answer)
      return answer
    }
    return { ...node, request: request as typeof node.request }
  }
}

interface RpcQuestion {
  readonly method: string
}

/** The node gave no usable answer; nothing is known. */
export class ChainUnreachable extends ReadFailure {
  override readonly name = 'ChainUnreachable'
}

/** The answer, or a ChainUnreachable with the question in its message; a defect is thrown as it is (read-failure.ts). */
export async function orUnreachable<Answer>(
  question: string,
  answer: Promise<Answer>,
): Promise<Answer> {
  try {
    return await answer
  } catch (error) {
    throw unreachable(question, error)
  }
}

/** The error for a question without an answer. A defect is not a missing answer: it is thrown instead. */
export function unreachable(question: string, error: unknown): ChainUnreachable {
  throwDefect(error)
  const cause = new Error(brief(error))
  const why = hasMetRateLimit(error) ? ' (the node limits how much it is asked)' : ''
  return new ChainUnreachable(`no answer from the chain: ${question}${why}`, { cause })
}

/**
 * Only the short text of viem's errors may reach a log: the whole one has the node's URL, which may contain a key, and
 * the request, which may contain signatures.
 */
function brief(error: unknown): string {
  if (error instanceof BaseError) return `${error.shortMessage} ${error.details}`.trim()
  return error instanceof Error ? error.message : 'unknown error'
}

export interface CircuitBreakerOptions {
  /** How long the breaker stays open after a failure. */
  readonly restMs?: number
  /** Milliseconds of a monotonic clock. */
  readonly nowMs?: () => number
}

/** Fails fast while the node does not answer. */
export interface CircuitBreaker {
  /**
   * The answer; undefined, without calling, while the breaker is open. A question without answer resolves to undefined.
   */
  ask<Answer>(question: () => Promise<Answer | undefined>): Promise<Answer | undefined>
}

const REST_MS = 1_000

/**
 * Opens after a question without an answer. After `restMs` one question is let through, and its answer closes the
 * breaker. Calls that run a foreign contract do not belong here: they may fail although the node works.
 */
export function createCircuitBreaker(options: CircuitBreakerOptions = {}): CircuitBreaker {
  const { restMs = REST_MS, nowMs = () => performance.now() } = options
  /** When the node may be tried again; undefined while it answers. */
  let tryAgainAtMs: number | undefined
  return {
    async ask(question) {
      if (tryAgainAtMs !== undefined) {
        if (nowMs() < tryAgainAtMs) return undefined
        // Other questions fail until this one has its answer.
        tryAgainAtMs = Number.POSITIVE_INFINITY
      }
      let answer: Awaited<ReturnType<typeof question>>
      try {
        answer = await question()
      } finally {
        tryAgainAtMs = answer === undefined ? nowMs() + restMs : undefined
      }
      return answer
    },
  }
}

const RETRY_MS = 500

/**
 * Repeats a question until the chain answers, because processes start in any order. Throws the last ChainUnreachable
 * after `waitMs`, and any other error at once. `onSilence` is called for the first failure only.
 */
export async function untilAnswering<Answer>(
  ask: () => Promise<Answer>,
  waitMs: number,
  onSilence: (cause: Error) => void,
): Promise<Answer> {
  const giveUpAtMs = performance.now() + waitMs
  for (let asked = 1; ; asked += 1) {
    try {
      return await ask()
    } catch (error) {
      if (!(error instanceof ChainUnreachable) || performance.now() > giveUpAtMs) throw error
      if (asked === 1) onSilence(error)
    }
    await delay(RETRY_MS)
  }
}
