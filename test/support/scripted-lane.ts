import type { LaneFacts, MinedIntent } from '../../chain/lane-facts.js'
import { LANE_POLICY } from '../../chain/lane-policy.js'
import type { LanePolicy } from '../../chain/lane-policy.js'
import { openNonceLane } from '../../chain/nonce-lane.js'
import { NO_RESERVE } from '../../chain/gas-reserve.js'
import type { GasReserve } from '../../chain/gas-reserve.js'
import { observeLane } from '../../chain/observe-lane.js'
import { createTransactionSigner } from '../../chain/sign-transaction.js'
import { createTransactionTracker } from '../../chain/track-transactions.js'
import type { TransactionTracker } from '../../chain/track-transactions.js'
import type { OpenTransaction } from '../../chain/transaction-journal.js'
import type { Hex } from '../../core/action.js'
import { openMemoryJournal } from './memory-journal.js'
import type { MemoryJournal } from './memory-journal.js'
import { createScriptedChain } from './scripted-chain.js'
import type { ScriptedChain } from './scripted-chain.js'

export const FINGERPRINT: Hex = `0x${'f1'.repeat(32)}`

export interface ScriptedLane extends ScriptedChain {
  readonly journal: MemoryJournal
  /** What was told, in order, by the name of the fact. */
  readonly told: string[]
  readonly mined: MinedIntent[]
  tracker: TransactionTracker
  /** Signs, records and sends one transaction for these intents. */
  readonly take: (...intentIds: string[]) => OpenTransaction
  /** Lets the time pass, then looks so often. */
  readonly look: (times?: number, afterMs?: number) => Promise<void>
  /** The process is gone; another one goes on from the journal. */
  readonly restart: () => void
}

export interface ScriptedLaneOptions {
  readonly policy?: Partial<LanePolicy>
  readonly reserve?: GasReserve
  readonly facts?: Partial<LaneFacts>
  readonly verifyChain?: () => Promise<void>
}

const signer = createTransactionSigner(`0x${'07'.padStart(64, '0')}`, 8453)
export const SENDER = signer.address
const silent = (): undefined => undefined
const quiet = observeLane({ debug: silent, info: silent, warn: silent, error: silent }, 'intent')

/** A lane on a chain that does what the test says, by a clock that the test moves. */
export function openScriptedLane(options: ScriptedLaneOptions = {}): ScriptedLane {
  const scripted = createScriptedChain()
  const journal = openMemoryJournal()
  const told: string[] = []
  const mined: MinedIntent[] = []
  let nowMs = 0
  const listening = Object.fromEntries(
    Object.keys(quiet).map((name) => [name, () => void told.push(name)]),
  ) as unknown as LaneFacts
  const facts: LaneFacts = {
    ...listening,
    mined: (_transaction, intents) => {
      told.push('mined')
      mined.push(...intents)
    },
    ...options.facts,
  }
  const { policy, reserve = NO_RESERVE, verifyChain } = options

  function open() {
    const nonces = openNonceLane({ signer, journal, minedNonces: scripted.count() })
    const tracker = createTransactionTracker({
      ...{ journal, nonces, chain: scripted.chain, policy: { ...LANE_POLICY, ...policy } },
      ...{ reserve, facts, nowMs: () => nowMs },
      ...(verifyChain && { verifyChain }),
      onFatal: (error) => {
        throw error
      },
    })
    return { nonces, tracker }
  }

  let running = open()
  const lane: ScriptedLane = Object.assign(scripted, {
    ...{ journal, told, mined, tracker: running.tracker },
    take(...intentIds: string[]) {
      const intents = intentIds.map((intentId) => ({ intentId, fingerprint: FINGERPRINT }))
      const { maxFeePerGas, maxPriorityFeePerGas } = scripted.gas
      const fees = { gasLimit: 100_000n, maxFeePerGas, maxPriorityFeePerGas }
      const transaction = running.nonces.take({ intents, to: SENDER, data: '0x01', fees })
      running.tracker.add(transaction)
      return transaction
    },
    async look(times = 1, afterMs = 2_000) {
      for (let n = 0; n < times; n += 1) {
        nowMs += afterMs
        await running.tracker.look()
      }
    },
    restart() {
      running = open()
      lane.tracker = running.tracker
    },
  })
  return lane
}
