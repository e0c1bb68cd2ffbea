import {
  encodeAbiParameters,
  encodeEventTopics,
  encodePacked,
  getAbiItem,
  toFunctionSelector,
} from 'viem'
import { batchExecutorAbi, matchingAbi } from '../../chain/abi/contracts.js'
import { bytesToHex, hexToBytes, keccak256 } from '../../chain/signing/keys.js'
import type { Address, Hex } from '../../core/action.js'
import { contractInterface } from './contract-interface.js'
import { AT, mayCall, Revert, revertData, type BookedFill, type ChainState } from './chain-state.js'
import { tryMatch, type SettlingCall } from './contracts.js'

/** What the batch executor tells of one match; outcomes as it numbers them. */
export interface MatchTried {
  readonly call: Hex
  readonly outcome: number
  readonly gasUsed: bigint
  readonly revertData: Hex
  /** The fills that the match's module reported. */
  readonly booked: readonly BookedFill[]
}

export interface BatchCall extends SettlingCall {
  readonly gas: bigint
  /** What a match uses in this block. */
  readonly matchGas: bigint
}

export const SUCCESS = 0
const REVERTED = 1
const OUT_OF_GAS = 2
const NOT_TRIED = 3

const TRANSACTION_GAS = 21_000n
/** Calldata of a match and the batch executor's own work on it. */
const MATCH_OVERHEAD_GAS = 30_000n
const AFTER_CALL_GAS = 20_000n
const NOT_TRIED_GAS = 8_000n

const contract = contractInterface(batchExecutorAbi)
const VERIFY_AND_MATCH = toFunctionSelector(
  getAbiItem({ abi: matchingAbi, name: 'verifyAndMatch' }),
)

/**
 * tryAll of the batch executor, by its own rules about gas: a match is given all that it asks for or is not tried, and
 * nothing behind it is either. One that fails leaves nothing behind. Throws Revert when the batch as a whole is refused.
 */
export function tryAll(state: ChainState, call: BatchCall): MatchTried[] {
  if (!mayCall(state, AT.batchExecutor, call.from)) throw new Revert('BE_OnlyOperator')
  const [items] = contract.read(call.data).args as [{ gasLimit: bigint; call: Hex }[]]
  let left = call.gas - TRANSACTION_GAS
  let starved = false
  return items.map(({ gasLimit, call: match }, index) => {
    if (!match.startsWith(VERIFY_AND_MATCH)) throw new Revert('BE_NotAMatch')
    left -= MATCH_OVERHEAD_GAS
    const room = left - AFTER_CALL_GAS - BigInt(items.length - index) * NOT_TRIED_GAS
    starved ||= room < 0n || room - room / 64n < gasLimit
    const tried = starved
      ? { outcome: NOT_TRIED, gasUsed: 0n, revertData: '0x' as const, booked: [] }
      : tryOne(state, { ...call, data: match, gasLimit })
    left -= tried.gasUsed
    return { call: match, ...tried }
  })
}

function tryOne(
  state: ChainState,
  { data, gasLimit, matchGas, timestampSec }: BatchCall & { readonly gasLimit: bigint },
): Omit<MatchTried, 'call'> {
  const nothing = { revertData: '0x', booked: [] } as const
  if (matchGas > gasLimit) return { ...nothing, outcome: OUT_OF_GAS, gasUsed: gasLimit }
  const tried = tryMatch(state, { from: AT.batchExecutor, data, timestampSec })
  if (tried.revert === undefined) {
    return { ...nothing, outcome: SUCCESS, gasUsed: matchGas, booked: tried.booked }
  }
  const gasUsed = matchGas / 2n
  return { ...nothing, outcome: REVERTED, gasUsed, revertData: revertData(tried.revert) }
}

/** What a call of the batch executor answers. */
export function callBatchExecutor(state: ChainState, call: BatchCall): Hex {
  const { name, args, result } = contract.read(call.data)
  switch (name) {
    case 'tryAll':
      return result(tryAll(state, call))
    case 'matching':
      return result(AT.matching)
    case 'operators':
      return result(mayCall(state, AT.batchExecutor, (args[0] as Address).toLowerCase() as Address))
    default:
      throw new Error(`the simulated BatchExecutor has no ${name}`)
  }
}

const DATA = [{ type: 'uint8' }, { type: 'uint256' }, { type: 'bytes' }] as const

/** The event of a match, as a receipt has it. */
export function matchTriedLog({ call, outcome, gasUsed, revertData: data }: MatchTried) {
  const key = bytesToHex(
    keccak256(hexToBytes(encodePacked(['address', 'bytes'], [AT.matching, call]))),
  )
  return {
    address: AT.batchExecutor,
    topics: encodeEventTopics({ abi: batchExecutorAbi, eventName: 'MatchTried', args: { key } }),
    data: encodeAbiParameters(DATA, [outcome, gasUsed, data]),
  }
}
