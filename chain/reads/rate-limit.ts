import { HttpRequestError, RpcRequestError } from 'viem'

/**
 * Codes with which nodes say that they are asked too much, besides the status 429. Of -32005 the words decide: with it nodes refuse one
 * question that is too large as well, which a smaller one gets around.
 */
const CODES: ReadonlySet<number> = new Set([429, -32_007])
const WORDS =
  /rate.?limit|too many requests|requests? limit|request (rate|count)|compute units per second/i
const TOO_MANY_REQUESTS = 429

/**
 * Whether the node has looked at no question, because it is asked too much: such an error says nothing of the chain, although nodes
 * send it as one. A contract that reverts with such a text is none: the error has data, or names the revert.
 */
export const isRateLimit = (error: unknown): boolean =>
  (error instanceof HttpRequestError && error.status === TOO_MANY_REQUESTS) ||
  (error instanceof RpcRequestError &&
    error.data === undefined &&
    !/revert/i.test(error.details) &&
    (CODES.has(error.code) || WORDS.test(error.details)))

/** The same of an error or of any of its causes. */
export function hasMetRateLimit(error: unknown): boolean {
  for (let at = error; at instanceof Error; at = at.cause) if (isRateLimit(at)) return true
  return false
}
