import { BaseError, HttpRequestError, RpcRequestError, TimeoutError, UnknownRpcError } from 'viem'
import { brokenIn } from '../../core/assert.js'

/** A read of the chain has given nothing to go by, for a reason outside of this program. */
export class ReadFailure extends Error {}

/** What viem throws for a node without a usable answer; its causes, `TypeError: fetch failed` among them, are of the network. */
const OF_THE_NODE = [HttpRequestError, RpcRequestError, TimeoutError, UnknownRpcError]

/**
 * The defect of this program that an error shows: a broken invariant, or anything else that is not a failure of a read, also where
 * viem has wrapped it. Undefined when the chain has just given no usable answer.
 */
export function defectIn(error: unknown): Error | undefined {
  const broken = brokenIn(error)
  if (broken !== undefined) return broken
  for (let at = error; at instanceof Error; at = at.cause) {
    if (at instanceof ReadFailure || OF_THE_NODE.some((kind) => at instanceof kind))
      return undefined
    if (!(at instanceof BaseError)) return at
  }
  return error instanceof Error ? undefined : new Error(`thrown: ${String(error)}`)
}

/** Throws the defect that the error shows; passes when the chain has just given no usable answer. */
export function throwDefect(error: unknown): void {
  const defect = defectIn(error)
  if (defect !== undefined) throw defect
}

/** For reads without which the caller goes on. Throws the defect that the error shows. */
export function undefinedOnFailure(error: unknown): undefined {
  throwDefect(error)
}
