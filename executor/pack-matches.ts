import { encodeBatch, type BatchItem } from '../chain/contracts/calldata.js'
import {
  roomyGasLimit,
  simulateBatch,
  simulateMatch,
  TRANSACTION_GAS_CAP,
  type BatchOutcome,
} from '../chain/contracts/simulate.js'
import type { ChainClient } from '../chain/reads/client.js'
import type { Address, Hex } from '../core/action.js'
import { assert } from '../core/assert.js'
import { OUT_OF_GAS } from '../core/revert.js'
import type { MatchPacker, PackedTransaction, SimulatedMatch, ChainVerdict } from './settlement.js'

export interface BatchDeps {
  /** A `read` client. */
  readonly client: ChainClient
  readonly batchExecutor: Address
  /** An operator of the batch executor. */
  readonly sender: Address
}

/** Three full transactions' worth of spot matches, which one simulation can hold; it tries fewer that take more gas. */
const MAX_GROUP = 112
/** With a full group of spot matches after them still within the gas of one call, and half of it with others. */
const MAX_AHEAD = 24
/** Nodes accept no transaction above 128 kilobytes. */
const MAX_DATA_BYTES = 110_000
/** The gas of one match; the rest of its transaction goes into calldata and the batch itself. */
const MAX_MATCH_GAS = 15_000_000n

const TRANSACTION_GAS = 21_000n
const ZERO_BYTE_GAS = 4n
const BYTE_GAS = 16n
const ZERO_DIGIT = 0x30
/** Calldata besides each call: offsets, lengths and the gas limit. */
const WRAPPING_GAS = 3_000n
/** What the batch executor spends on a match besides its call, and reserves before it tries one. */
const OVERHEAD_GAS = 45_000n

/** Many matches in one transaction, through the batch executor. */
export function packBatches({ client, batchExecutor, sender }: BatchDeps): MatchPacker {
  return {
    maxGroup: MAX_GROUP,
    maxAhead: MAX_AHEAD,
    async simulate({ blockHash }, matches, ahead) {
      const calls = [...ahead, ...matches].map(({ call }) => call)
      const batch = { from: sender, batchExecutor, blockHash, calls }
      const outcomes = await simulateBatch(client, batch)
      const verdicts = outcomes.slice(ahead.length).map(verdictOf)
      const allPassed = outcomes.slice(0, ahead.length).every(({ kind }) => kind === 'success')
      // When the matches ahead used up the gas, nothing is known about the others.
      const isOutOfGas = ahead.length > 0 && verdicts[0]?.kind === 'untried'
      return { aheadPassed: allPassed && !isOutOfGas, verdicts }
    },
    pack: (matches) => packBatch(batchExecutor, matches),
  }
}

function verdictOf(outcome: BatchOutcome): ChainVerdict {
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
 * As many matches of plain keys as fit if each of them uses a quarter more gas than in its simulation, and any one of them
 * its whole limit: the batch executor does not try a match that it cannot give its limit. Of matches that code has signed
 * as many as fit if each uses its whole limit, so that all of them are tried whatever their signers burn.
 */
function packBatch(to: Address, matches: readonly SimulatedMatch[]): PackedTransaction {
  const items: BatchItem[] = []
  let [bytes, spent, largest] = [0, TRANSACTION_GAS, 0n]
  let isFull = false
  for (const simulated of matches) {
    const { match } = simulated
    const limit = limitOf(simulated)
    const reserve = reserveOf(simulated)
    const grown = {
      bytes: bytes + match.call.length / 2,
      spent: spent + calldataGas(match.call) + WRAPPING_GAS + OVERHEAD_GAS + expectedOf(simulated),
      largest: largest > reserve ? largest : reserve,
    }
    isFull = grown.spent + grown.largest > TRANSACTION_GAS_CAP || grown.bytes > MAX_DATA_BYTES
    if (isFull && items.length > 0) break
    ;({ bytes, spent, largest } = grown)
    items.push({ call: match.call, gasLimit: limit })
  }
  assert(items.length > 0, 'there is no match to pack')
  const needed = spent + largest
  // All full transactions get the same limit. Otherwise some nodes pick a smaller one for the rest of a block before
  // its nonce is next, and drop it.
  const gasLimit = !isFull && needed < TRANSACTION_GAS_CAP ? needed : TRANSACTION_GAS_CAP
  return { count: items.length, to, data: encodeBatch(items), gasLimit, isFull }
}

/**
 * The gas limit of one match: twice what it used in the simulation, where matches before it may have paid for the first
 * access to storage that they share. Of a match that code has signed, and that was simulated as it will be sent, a quarter
 * more than it used, and what an account costs that has become new meanwhile.
 */
function limitOf({ gas, code }: SimulatedMatch): bigint {
  const limit = code?.alone === undefined ? 2n * gas + 100_000n : closeLimit(code.alone)
  return limit < MAX_MATCH_GAS ? limit : MAX_MATCH_GAS
}

/** Rounded down; a unit of gas decides nothing. Measured in test/executor/wallet-gas.test.ts. */
const closeLimit = (alone: bigint): bigint => (alone * 5n) / 4n + 60_000n

/** The gas that the match adds to its transaction. */
const expectedOf = (simulated: SimulatedMatch): bigint =>
  // Rounded down; a unit of gas decides nothing.
  simulated.code === undefined ? (simulated.gas * 5n) / 4n : limitOf(simulated)

/** The gas that must be there besides, once for a transaction: a call gets 63/64 of what is left. */
const reserveOf = (simulated: SimulatedMatch): bigint =>
  simulated.code === undefined ? limitOf(simulated) : limitOf(simulated) / 63n + 1n

function calldataGas(data: Hex): bigint {
  let zeros = 0
  for (let at = 2; at < data.length; at += 2) {
    if (data.charCodeAt(at) === ZERO_DIGIT && data.charCodeAt(at + 1) === ZERO_DIGIT) zeros += 1
  }
  const rest = data.length / 2 - 1 - zeros
  return BigInt(zeros) * ZERO_BYTE_GAS + BigInt(rest) * BYTE_GAS
}

export interface SingleDeps {
  /** A `read` client. */
  readonly client: ChainClient
  readonly matching: Address
  /** A trade executor of the matching contract. */
  readonly sender: Address
}

/** The most matches that a node simulates at once. */
export const MAX_SIMULATIONS = 32

/** Each match in a transaction of its own, for a deployment without a batch executor. */
export function packSingly({ client, matching, sender }: SingleDeps): MatchPacker {
  return {
    maxGroup: MAX_SIMULATIONS,
    maxAhead: 0,
    async simulate({ blockHash }, matches) {
      const verdicts = matches.map(({ call }) =>
        simulateMatch(client, { from: sender, to: matching, data: call, blockHash }),
      )
      return { aheadPassed: true, verdicts: await Promise.all(verdicts) }
    },
    pack([first]) {
      assert(first !== undefined, 'there is no match to pack')
      const gasLimit = roomyGasLimit(first.gas)
      return { count: 1, to: matching, data: first.match.call, gasLimit, isFull: true }
    },
  }
}
