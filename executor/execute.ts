import { ChainUnreachable } from '../chain/chain-unreachable.js'
import type { ChainClient } from '../chain/client.js'
import { encodeMatch } from '../chain/encode-match.js'
import type { FindGuilty, GuiltySide } from '../chain/find-guilty.js'
import { fingerprintOf } from '../chain/fingerprint.js'
import { simulateMatch } from '../chain/simulate-match.js'
import { MAX_OPEN_TRANSACTIONS } from '../chain/transaction-lane.js'
import type { TransactionLane } from '../chain/transaction-lane.js'
import type {
  MinedTransaction,
  OpenTransaction,
  TransactionJournal,
} from '../chain/transaction-journal.js'
import type { Address, Hex } from '../core/action.js'
import { assert } from '../core/assert.js'
import { crash } from '../core/crash-point.js'
import { JournalUnwritable } from '../data/transaction-journal.js'
import type { ExecutePayload } from './execute-payload.js'
import type { ExecutorFacts } from './observe.js'
import type { Turns } from './turns.js'

/** What became of a settlement. Only `mined` and `refused` are final; the others say: ask again with the same key. */
export type ExecuteAnswer =
  | {
      readonly kind: 'mined'
      readonly transaction: MinedTransaction
      /** Of a revert, when one side alone is to blame. */
      readonly guilty?: GuiltySide
    }
  /** The simulation reverted; nothing was sent, and nothing ever will be for this key. */
  | { readonly kind: 'refused'; readonly revert: string; readonly guilty?: GuiltySide }
  /** A node has the transaction, the chain has not mined it yet. */
  | { readonly kind: 'timeout'; readonly hash: Hex }
  /** Signed and recorded, but no node has said that it has it. */
  | { readonly kind: 'unknown'; readonly hash: Hex }
  /** Nothing was recorded or sent. */
  | { readonly kind: 'unavailable'; readonly why: string }
  /** The key belongs to another match. */
  | { readonly kind: 'mismatch' }

export interface ExecuteDeps {
  readonly matching: Address
  /** A `read` client. */
  readonly client: ChainClient
  readonly journal: TransactionJournal
  readonly lane: TransactionLane
  /** Matches are tried out in turn, so that they do not pile up on a slow node. */
  readonly simulations: Turns
  readonly findGuilty: FindGuilty
  readonly timeoutMs: number
  readonly facts: ExecutorFacts
}

/** Settles a match once; `key` is the settlement's id, without one the call itself is the key. */
export type Execute = (payload: ExecutePayload, key: string | undefined) => Promise<ExecuteAnswer>

export interface Executions {
  readonly execute: Execute
  /** Whether something was recorded under the key, or is about to be: then it may have been sent. */
  readonly isKnown: (key: string) => boolean
}

/** Matches that a node is asked to try out at once; as many wait for that as transactions may be in flight. */
export const MAX_SIMULATIONS = 32
export const SIMULATION_LIMITS = { atOnce: MAX_SIMULATIONS, maxWaiting: MAX_OPEN_TRANSACTIONS }

interface Settlement {
  readonly id: string
  readonly data: Hex
  readonly fingerprint: Hex
}

/** Concurrent requests with one key share one execution, so that none can slip between looking and recording. */
export function createExecute(deps: ExecuteDeps): Executions {
  /** Bounded by the requests that are open. */
  const running = new Map<string, { fingerprint: Hex; answer: Promise<ExecuteAnswer> }>()

  const execute: Execute = (payload, key) => {
    const data = encodeMatch(payload.match)
    const fingerprint = fingerprintOf(deps.matching, data)
    const id = key ?? fingerprint
    const { market, takerOrderId, makerOrderIds } = payload
    deps.facts.settlementReceived({ settlementId: id, market, takerOrderId, makerOrderIds })

    const same = running.get(id)
    if (same !== undefined) {
      return same.fingerprint === fingerprint ? same.answer : Promise.resolve({ kind: 'mismatch' })
    }
    const answer = settle(deps, { id, data, fingerprint })
      .then((outcome) => withGuilty(deps.findGuilty, payload, outcome))
      .finally(() => running.delete(id))
    running.set(id, { fingerprint, answer })
    return answer
  }
  const isKnown = (key: string): boolean => running.has(key) || deps.journal.find(key) !== undefined
  return { execute, isKnown }
}

/** Blame is not recorded: a repeated question is answered by what the chain shows then. */
async function withGuilty(
  findGuilty: FindGuilty,
  { match }: ExecutePayload,
  answer: ExecuteAnswer,
): Promise<ExecuteAnswer> {
  if (answer.kind !== 'refused' && answer.kind !== 'mined') return answer
  const revert = answer.kind === 'refused' ? answer.revert : revertOf(answer.transaction)
  if (revert === undefined) return answer
  const guilty = await findGuilty(match, revert)
  return guilty === undefined ? answer : { ...answer, guilty }
}

const revertOf = ({ status, revert = 'unknown' }: MinedTransaction): string | undefined =>
  status === 'reverted' ? revert : undefined

async function settle(deps: ExecuteDeps, settlement: Settlement): Promise<ExecuteAnswer> {
  const recorded = deps.journal.find(settlement.id)
  if (recorded === undefined) return settleNew(deps, settlement)
  if (recorded.fingerprint !== settlement.fingerprint) return { kind: 'mismatch' }
  const { state } = recorded
  if (state.kind === 'displaced') return settleNew(deps, settlement)
  if (state.kind === 'open') return waitForResult(deps, settlement.id, hashOf(state.transaction))
  return state
}

async function settleNew(deps: ExecuteDeps, settlement: Settlement): Promise<ExecuteAnswer> {
  try {
    return await simulateAndSend(deps, settlement)
  } catch (error) {
    if (!(error instanceof ChainUnreachable || error instanceof JournalUnwritable)) throw error
    deps.facts.unavailable(settlement.id, error.message, error)
    return { kind: 'unavailable', why: error.message }
  }
}

async function simulateAndSend(deps: ExecuteDeps, settlement: Settlement): Promise<ExecuteAnswer> {
  const { client, matching, journal, lane, simulations, facts } = deps
  crash('executor.after_request')
  const { id, data, fingerprint } = settlement
  const call = { from: lane.address, to: matching, data }
  const tried = await simulations.inTurn(() =>
    Promise.all([simulateMatch(client, call), lane.readGas()]),
  )
  if (tried === undefined) return unavailable(deps, id, 'no turn for another settlement')
  const [simulation, gas] = tried
  if (simulation.kind === 'reverts') {
    journal.recordRefusal(id, fingerprint, simulation.revert)
    facts.refused(id, simulation.revert)
    return { kind: 'refused', revert: simulation.revert }
  }
  facts.simulated(id, simulation.gasLimit)

  const shortage = lane.shortage(gas, simulation.gasLimit * gas.maxFeePerGas)
  if (shortage !== undefined) return unavailable(deps, id, shortage.why)
  const { maxFeePerGas, maxPriorityFeePerGas } = gas
  const { gasLimit } = simulation
  const fees = { gasLimit, maxFeePerGas, maxPriorityFeePerGas }
  const intents = [{ intentId: id, fingerprint }]
  crash('executor.before_journal')
  const transaction = lane.take({ intents, to: matching, data, fees })
  return waitForResult(deps, id, hashOf(transaction))
}

function unavailable({ facts }: ExecuteDeps, id: string, why: string): ExecuteAnswer {
  facts.unavailable(id, why)
  return { kind: 'unavailable', why }
}

async function waitForResult(deps: ExecuteDeps, id: string, hash: Hex): Promise<ExecuteAnswer> {
  const transaction = await deps.lane.waitFor(id, deps.timeoutMs)
  if (transaction !== undefined) return { kind: 'mined', transaction }
  return { kind: deps.lane.wasTaken(id) ? 'timeout' : 'unknown', hash }
}

/** Hash of the newest signed form, the likeliest to be mined. */
function hashOf({ attempts, evmNonce }: OpenTransaction): Hex {
  const newest = attempts.at(-1)
  assert(newest !== undefined, `nothing was signed for nonce ${evmNonce}`)
  return newest.hash
}
