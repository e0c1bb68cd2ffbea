import { numberToHex, size, slice, toFunctionSelector, type Hex } from 'viem'
import type { Address } from '../../core/action.js'
import type { AnvilClient } from './anvil.js'

/** What a contract answers to a function in place of its own answer: a word, or a revert with these bytes. */
export type Answer = { readonly word: bigint } | { readonly revert: Hex }

const hex = (value: number, bytes: number): string => numberToHex(value, { size: bytes }).slice(2)

/** Puts the bytes into memory from 0 on, and ends with them. */
function ending(bytes: Hex, end: 'f3' | 'fd'): string {
  let code = ''
  for (let at = 0; at < size(bytes); at += 32) {
    const word = slice(bytes, at, Math.min(at + 32, size(bytes)))
    code += `7f${word.slice(2).padEnd(64, '0')}61${hex(at, 2)}52`
  }
  return `${code}61${hex(size(bytes), 2)}5f${end}`
}

/**
 * Code that answers these functions (by their signatures) itself, and hands every other call to `inner` in the caller's own
 * storage.
 */
function interceptor(answers: Readonly<Record<string, Answer>>, inner: Address): Hex {
  const entries = Object.entries(answers)
  // delegatecall with the calldata; return or revert with what it gives
  const forward = `365f5f375f5f365f73${inner.slice(2)}5af43d5f5f3e`
  const head = 5 + entries.length * 11
  const back = head + forward.length / 2 + 7
  const handed = `${forward}61${hex(back, 2)}573d5ffd5b3d5ff3`
  let at = head + handed.length / 2
  let compare = ''
  let ends = ''
  for (const [signature, answer] of entries) {
    compare += `8063${toFunctionSelector(signature).slice(2)}1461${hex(at, 2)}57`
    const end =
      'word' in answer
        ? ending(numberToHex(answer.word, { size: 32 }), 'f3')
        : ending(answer.revert, 'fd')
    ends += `5b${end}`
    at += 1 + end.length / 2
  }
  return `0x5f3560e01c${compare}${handed}${ends}`
}

/** Puts the code in front of that of a contract, whose own moves to another address. */
export async function intercept(
  client: AnvilClient,
  address: Address,
  answers: Readonly<Record<string, Answer>>,
): Promise<void> {
  const inner: Address = `0x${'1'.repeat(8)}${address.slice(10)}`
  const bytecode = await client.getCode({ address })
  await client.setCode({ address: inner, bytecode: bytecode ?? '0x' })
  await client.setCode({ address, bytecode: interceptor(answers, inner) })
}
