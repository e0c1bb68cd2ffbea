import type { OpenTransaction } from '../../core/transaction-journal.js'
import type { TransactionLane } from '../../chain/lane/transaction-lane.js'
import { balanceClaim } from '../../core/contracts/claims.js'
import { createInFlightBook } from '../../executor/in-flight.js'
import { observeExecutor } from '../../executor/observe.js'
import type { GroupDeps } from '../../executor/settle-group.js'
import type { Settlement, SimulationResult } from '../../executor/settlement.js'
import { createLog } from '../../runtime/process/log.js'
import { matchClaiming, readsWith } from '../support/claims.js'

const MANAGER = `0x${'a1'.repeat(20)}` as const
const ASSET = `0x${'c1'.repeat(20)}` as const

/** What settlements are settled with, where the simulation says what the test says. */
export interface GroupRig {
  /** What each account has. */
  balance: bigint
  /** The most matches of one transaction. */
  maxPacked: number
  trial: (matches: readonly Settlement[]) => SimulationResult
  readonly deps: (maxAhead: number) => GroupDeps
  /** A settlement in which an account pays so much to account 99. */
  readonly paying: (intentId: string, accountId: bigint, amount: bigint) => Settlement
  /** Puts so many matches of account 1 in flight, from this nonce on. */
  readonly inFlight: (n: number, evmNonce: number) => void
}

export function groupRig(): GroupRig {
  const book = createInFlightBook()
  let next = 20
  const takes: Partial<TransactionLane> = {
    readGas: (() =>
      Promise.resolve({
        maxFeePerGas: 3n,
        maxPriorityFeePerGas: 2n,
        blockGasLimit: 1_000n,
      })) as TransactionLane['readGas'],
    address: MANAGER,
    shortage: () => undefined,
    take: ({ intents }): OpenTransaction => {
      next += 1
      const intentIds = intents.map(({ intentId }) => intentId)
      return { from: MANAGER, evmNonce: next, intentIds, attempts: [] }
    },
  }
  const journal: Partial<GroupDeps['journal']> = { recordRefusal: () => undefined }
  const rig: GroupRig = {
    balance: 100n,
    maxPacked: 64,
    trial: (matches) => ({
      aheadPassed: true,
      verdicts: matches.map(() => ({ kind: 'passes', gas: 1n })),
    }),
    paying: (intentId, accountId, amount) => ({
      ...{ intentId, fingerprint: '0x02', call: `0x${intentId}`, parties: [] },
      accountIds: [accountId, 99n],
      match: matchClaiming({ key: balanceClaim(accountId, ASSET, 0n), debit: amount }),
    }),
    inFlight: (n, evmNonce) => {
      for (let i = 0; i < n; i += 1) book.add(evmNonce + i, [rig.paying(`f${i}`, 1n, 30n)])
    },
    deps: (maxAhead) => ({
      book,
      facts: observeExecutor(createLog('test', 'silent')),
      readClaims: () => readsWith((keys) => Promise.resolve(keys.map(() => rig.balance))),
      readCode: () => Promise.resolve(new Set()),
      isUnchanged: () => Promise.resolve(true),
      lane: takes as TransactionLane,
      journal: journal as GroupDeps['journal'],
      packer: {
        maxGroup: 64,
        maxAhead,
        simulate: (_, matches) => Promise.resolve(rig.trial(matches as readonly Settlement[])),
        pack: (matches) => {
          const count = Math.min(matches.length, rig.maxPacked)
          return { count, to: ASSET, data: '0xda', gasLimit: 5n, isFull: count < matches.length }
        },
      },
    }),
  }
  return rig
}
