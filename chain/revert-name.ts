import { decodeErrorResult, RpcRequestError } from 'viem'
import type { Hex } from '../core/action.js'
import { errorsAbi } from './abi/errors.js'

/** How the chain refused a call: the error's name for people and programs, and its bytes. */
export interface Revert {
  readonly name: string
  readonly data: Hex
}

/** A call to an address without code, malformed calldata, or a bare `revert()`. */
export const EMPTY_REVERT = 'empty revert'
export const OUT_OF_GAS = 'out of gas'
/** The batch was mined without having tried the match: the chain has said nothing about the match itself. */
export const NOT_TRIED = 'not tried'

const MAX_TEXT_LENGTH = 200
const EVM_FAILURE =
  /revert|invalid opcode|out of gas|outofgas|gas required exceeds|stack (over|under)flow|invalid jump/i
const GAS_FAILURE = /out of gas|outofgas|gas required exceeds/i

/**
 * The name of an error by its bytes: `TM_FeeTooHigh`, `Panic(0x12)`, `Error: <text>`, `empty revert`, or
 * `unknown revert 0x<selector>` for an error that no contract of the venue has.
 */
export function revertName(data: Hex): string {
  if (data === '0x') return EMPTY_REVERT
  try {
    const { errorName, args } = decodeErrorResult({ abi: errorsAbi, data })
    if (errorName === 'Panic') return `Panic(0x${args[0].toString(16).padStart(2, '0')})`
    if (errorName === 'Error') return `Error: ${args[0].slice(0, MAX_TEXT_LENGTH)}`
    return errorName
  } catch {
    return `unknown revert ${data.slice(0, 10)}`
  }
}

/** The revert that an error of the client stands for; undefined when the chain did not get to run the call. */
export function revertOf(error: unknown): Revert | undefined {
  const answer = rpcAnswer(error)
  if (answer === undefined) return undefined
  const data = hexIn(answer.data)
  const text = `${answer.message} ${answer.details}`
  if (data === undefined && !EVM_FAILURE.test(text)) return undefined
  if ((data ?? '0x') === '0x' && GAS_FAILURE.test(text)) return { name: OUT_OF_GAS, data: '0x' }
  return { name: revertName(data ?? '0x'), data: data ?? '0x' }
}

/** The error object that the node itself answered, somewhere down the chain of causes. */
function rpcAnswer(error: unknown): RpcRequestError | undefined {
  for (let at = error; at instanceof Error; at = at.cause) {
    if (at instanceof RpcRequestError) return at
  }
  return undefined
}

/** Nodes differ: the bytes are the error's `data`, or lie in an object in its place. */
function hexIn(data: unknown): Hex | undefined {
  if (typeof data === 'string') return /^0x[0-9a-fA-F]*$/.test(data) ? (data as Hex) : undefined
  if (typeof data === 'object' && data !== null && 'data' in data) return hexIn(data.data)
  return undefined
}
