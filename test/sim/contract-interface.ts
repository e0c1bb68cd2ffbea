import {
  decodeAbiParameters,
  encodeAbiParameters,
  toFunctionSelector,
  type Abi,
  type AbiFunction,
} from 'viem'
import type { Hex } from '../../core/action.js'

/** A call as a contract sees it. */
export interface ReceivedCall {
  readonly name: string
  readonly args: readonly unknown[]
  /** Encodes the one value that the function returns. */
  readonly result: (value: unknown) => Hex
  /** The same of several values. */
  readonly results: (values: readonly unknown[]) => Hex
}

/** Reads calls of an ABI. The selectors are computed once, which is what decoding a call afresh spends its time on. */
export function contractInterface(abi: Abi): { read(data: Hex): ReceivedCall } {
  const functions = abi.filter((item): item is AbiFunction => item.type === 'function')
  const bySelector = new Map(functions.map((item) => [toFunctionSelector(item), item]))
  return {
    read(data) {
      const item = bySelector.get(data.slice(0, 10) as Hex)
      if (item === undefined) throw new Error(`no function ${data.slice(0, 10)}`)
      const { name, inputs, outputs } = item
      // A match is decoded by those who remember it.
      const args =
        name === 'verifyAndMatch' ? [] : decodeAbiParameters(inputs, `0x${data.slice(10)}`)
      const results = (values: readonly unknown[]): Hex => encodeAbiParameters(outputs, values)
      return { name, args, results, result: (value) => results([value]) }
    },
  }
}
