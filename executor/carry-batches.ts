import type { ChainClient } from '../chain/client.js'
import { encodeBatch } from '../chain/encode-batch.js'
import type { BatchItem, BatchOutcome } from '../chain/encode-batch.js'
import { OUT_OF_GAS } from '../chain/revert-name.js'
import { simulateBatch } from '../chain/simulate-batch.js'
import { TRANSACTION_GAS_CAP } from '../chain/simulate-match.js'
import type { Address, Hex } from '../core/action.js'
import { assert } from '../core/assert.js'
import type { Carrier, Load, TriedOut, Verdict } from './carrier.js'

export interface BatchDeps {
  /** A `read` client. */
  readonly client: ChainClient
  readonly batchExecutor: Address
  /** Who sends: an operator of the batch executor. */
  readonly sender: Address
}

/** As many as three full transactions hold, and the gas of one call. */
const MAX_GROUP = 112
/** What a node can try out within the gas of one call, with room for the group. */
const MAX_AHEAD = 24
/** Nodes take no transaction of more than 128 kilobytes. */
const MAX_DATA_BYTES = 110_000
/** What a match may use by itself: the rest of the transaction is calldata and the batch's own work. */
const MAX_MATCH_GAS = 15_000_000n

const TRANSACTION_GAS = 21_000n
const ZERO_BYTE_GAS = 4n
const BYTE_GAS = 16n
const ZERO_DIGIT = 0x30
/** Offsets, lengths and the gas limit beside each call. */
const WRAPPING_GAS = 3_000n
/** What the batch executor spends on a match beside its call, and keeps back before it tries one. */
const OVERHEAD_GAS = 45_000n

/** Many matches in one transaction, through the batch executor. */
export function carryBatches({ client, batchExecutor, sender }: BatchDeps): Carrier {
  return {
    maxGroup: MAX_GROUP,
    maxAhead: MAX_AHEAD,
    async try({ blockHash }, matches, ahead) {
      const calls = [...ahead, ...matches].map(({ call }) => call)
      const outcomes = await simulateBatch(client, {
        from: sender,
        batchExecutor,
        blockHash,
        calls,
      })
      const verdicts = outcomes.slice(ahead.length).map(verdictOf)
      // Where those ahead left no gas, nothing was learnt.
      const wentThrough = outcomes.slice(0, ahead.length).every(({ kind }) => kind === 'success')
      const isCrowdedOut = ahead.length > 0 && verdicts[0]?.kind === 'untried'
      return { aheadHolds: wentThrough && !isCrowdedOut, verdicts }
    },
    load: (matches) => loadOf(batchExecutor, matches),
  }
}

function verdictOf(outcome: BatchOutcome): Verdict {
  switch (outcome.kind) {
    case 'success':
      if (outcome.gasUsed > MAX_MATCH_GAS) return { kind: 'reverts', revert: OUT_OF_GAS }
      return { kind: 'passes', gas: outcome.gasUsed }
    case 'reverted':
      return { kind: 'reverts', revert: outcome.revert }
    case 'untried':
      return outcome
  }
}

/**
 * As many matches as fit if each uses a quarter more than it did when it was tried out, and any one of them as much as
 * it may: a match that is not given its limit is not tried.
 */
function loadOf(to: Address, matches: readonly TriedOut[]): Load {
  const items: BatchItem[] = []
  let [bytes, spent, largest] = [0, TRANSACTION_GAS, 0n]
  let isFull = false
  for (const { match, gas } of matches) {
    const grown = {
      bytes: bytes + match.call.length / 2,
      spent: spent + calldataGas(match.call) + WRAPPING_GAS + OVERHEAD_GAS + (gas * 5n) / 4n,
      largest: largest > limitOf(gas) ? largest : limitOf(gas),
    }
    isFull = grown.spent + grown.largest > TRANSACTION_GAS_CAP || grown.bytes > MAX_DATA_BYTES
    if (isFull && items.length > 0) break
    ;({ bytes, spent, largest } = grown)
    items.push({ call: match.call, gasLimit: limitOf(gas) })
  }
  assert(items.length > 0, 'no match to carry')
  const needed = spent + largest
  // Full ones ask for the same: in a block with room for a smaller one alone, some nodes take that up before its turn, find
  // that it is too early, and drop it.
  const gasLimit = !isFull && needed < TRANSACTION_GAS_CAP ? needed : TRANSACTION_GAS_CAP
  return { count: items.length, to, data: encodeBatch(items), gasLimit, isFull }
}

/**
 * What a match may use: twice what it did beside others, because by itself it touches for the first time what they had
 * touched before it.
 */
function limitOf(gas: bigint): bigint {
  const roomy = 2n * gas + 100_000n
  return roomy < MAX_MATCH_GAS ? roomy : MAX_MATCH_GAS
}

function calldataGas(data: Hex): bigint {
  let zeros = 0
  for (let at = 2; at < data.length; at += 2) {
    if (data.charCodeAt(at) === ZERO_DIGIT && data.charCodeAt(at + 1) === ZERO_DIGIT) zeros += 1
  }
  const rest = data.length / 2 - 1 - zeros
  return BigInt(zeros) * ZERO_BYTE_GAS + BigInt(rest) * BYTE_GAS
}
