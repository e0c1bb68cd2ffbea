import { SENDER_POLICY, type SenderPolicy } from '../../../chain/sender/follow-transaction.js'
import { NO_RESERVE, type GasReserve } from '../../../chain/sender/gas.js'
import { openKeyNonces } from '../../../chain/sender/key-nonces.js'
import type { SenderObserver, MinedIntent } from '../../../chain/sender/observe-sender.js'
import {
  createTransactionTracker,
  type TransactionTracker,
} from '../../../chain/sender/track-transactions.js'
import type { TrackerOptions, OutcomesOf } from '../../../chain/sender/tracking.js'
import type { OpenTransaction } from '../../../core/transaction-journal.js'
import { createTransactionSigner } from '../../../chain/signing/keys.js'
import type { Hex } from '../../../core/action.js'
import { factsTo } from '../../support/sender-facts.js'
import { openMemoryJournal, type MemoryJournal } from '../../support/memory-journal.js'
import { createScriptedChain, type ScriptedChain } from './scripted-chain.js'

export const FINGERPRINT: Hex = `0x${'f1'.repeat(32)}`

export interface ScriptedSender extends ScriptedChain {
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

export interface ScriptedSenderOptions {
  readonly policy?: Partial<SenderPolicy>
  readonly reserve?: GasReserve
  readonly facts?: Partial<SenderObserver>
  readonly verifyChain?: () => Promise<void>
  readonly outcomesOf?: OutcomesOf
  readonly mayBeOurs?: TrackerOptions['mayBeOurs']
}

const signer = createTransactionSigner(`0x${'07'.padStart(64, '0')}`, 8453)
export const SENDER_ADDRESS = signer.address

/** A sender on a chain that does what the test says, by a clock that the test moves. */
export function openScriptedSender(options: ScriptedSenderOptions = {}): ScriptedSender {
  const scripted = createScriptedChain()
  const journal = openMemoryJournal()
  const told: string[] = []
  const mined: MinedIntent[] = []
  let nowMs = 0
  const listening = factsTo(told)
  const facts: SenderObserver = {
    ...listening,
    mined: (_transaction, intents) => {
      told.push('mined')
      mined.push(...intents)
    },
    ...options.facts,
  }
  const { policy, reserve = NO_RESERVE, verifyChain, outcomesOf, mayBeOurs } = options

  function open() {
    const nonces = openKeyNonces({ signer, journal, minedNonces: scripted.count() })
    const tracker = createTransactionTracker({
      journal,
      nonces,
      chain: scripted.chain,
      policy: { ...SENDER_POLICY, ...policy },
      reserve,
      facts,
      nowMs: () => nowMs,
      ...(verifyChain && { verifyChain }),
      ...(outcomesOf && { outcomesOf }),
      ...(mayBeOurs && { mayBeOurs }),
      onFatal: (error) => {
        throw error
      },
    })
    return { nonces, tracker }
  }

  let running = open()
  const txSender: ScriptedSender = Object.assign(scripted, {
    journal,
    told,
    mined,
    tracker: running.tracker,
    take(...intentIds: string[]) {
      const intents = intentIds.map((intentId) => ({ intentId, fingerprint: FINGERPRINT }))
      const { maxFeePerGas, maxPriorityFeePerGas } = scripted.gas
      const fees = { gasLimit: 100_000n, maxFeePerGas, maxPriorityFeePerGas }
      const transaction = running.nonces.take({ intents, to: SENDER_ADDRESS, data: '0x01', fees })
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
      txSender.tracker = running.tracker
    },
  })
  return txSender
}
