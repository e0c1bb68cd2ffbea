import type { Address, Hex } from '../../core/action.js'
import {
  addressOfWord,
  isWords,
  readWords,
  wordAt,
  writeWords,
} from '../../core/entry/read-action.js'
import { NotWords, undefinedOnRevert } from '../abi/errors.js'
import { callBatchOf, type BlockId } from './call-batch.js'
import type { ChainClient } from './client.js'

/** Reads at one block; those of one turn of the event loop share a call of the node. */
export interface PlainCalls {
  /** The single word that a view function returns. */
  readonly word: (to: Address, selector: Hex, args: readonly bigint[]) => Promise<bigint>
  /** The words that a view function returns; at least one for a caller to take apart. */
  readonly words: (
    to: Address,
    selector: Hex,
    args: readonly bigint[],
  ) => Promise<readonly bigint[]>
  /**
   * The word that a function without arguments always returns; undefined where the contract has no such function. Read once
   * by each client.
   */
  readonly constant: (to: Address, selector: Hex) => Promise<bigint | undefined>
}

/**
 * Encodes and decodes single words by hand: with viem's readContract an account costs three times the processor time
 * (115 µs against 360 µs, twenty accounts in a batch), and the chain reader does little else.
 */
export function plainCalls(client: ChainClient, at: BlockId): PlainCalls {
  const batch = callBatchOf(client)
  const call = (to: Address, selector: Hex, args: readonly bigint[]): Promise<Hex> =>
    batch.call(to, `${selector}${writeWords(args).slice(2)}`, at)
  return {
    word: (to, selector, args) => call(to, selector, args).then(oneWord),
    words: (to, selector, args) => call(to, selector, args).then(someWords),
    constant: (to, selector) => readConstant(client, to, selector, call),
  }
}

/** By client; as many as there are contracts in market data. */
const constants = new WeakMap<ChainClient, Map<string, bigint | undefined>>()

/** A contract without the function reverts, or answers what is not a word. An address without code may have one later. */
async function readConstant(
  client: ChainClient,
  to: Address,
  selector: Hex,
  call: (to: Address, selector: Hex, args: readonly bigint[]) => Promise<Hex>,
): Promise<bigint | undefined> {
  const known = constants.get(client) ?? new Map<string, bigint | undefined>()
  constants.set(client, known)
  const key = `${to} ${selector}`
  if (known.has(key)) return known.get(key)
  const answer = await call(to, selector, []).catch(undefinedOnRevert)
  const [value] = (answer && readWords(answer, 1)) ?? []
  if (answer !== '0x') known.set(key, value)
  return value
}

function oneWord(answer: Hex): bigint {
  if (!isWords(answer, 1)) throw new NotWords(`not one word: ${answer.slice(0, 80)}`)
  return wordAt(answer, 0)
}

function someWords(answer: Hex): readonly bigint[] {
  const values = readWords(answer, (answer.length - 2) / 64)
  if (!values?.length) throw new NotWords(`not words: ${answer.slice(0, 80)}`)
  return values
}

/** The address in a word, in lower case. Throws for a word that is none. */
export function toAddress(word: bigint): Address {
  const address = addressOfWord(word)
  if (address === undefined) throw new NotWords('not an address')
  return address
}
