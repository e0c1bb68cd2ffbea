import type { MarketMatch } from '../../chain/contracts/registry.js'
import type { OpenTransaction } from '../../core/transaction-journal.js'
import type { TransactionSender } from '../../chain/sender/transaction-sender.js'
import type { Address } from '../../core/action.js'
import { balanceClaim } from '../../core/contracts/claims.js'
import { quoteE18 } from '../../core/money.js'
import { createInFlightBook } from '../../executor/in-flight.js'
import { observeExecutor } from '../../executor/observe.js'
import type { GroupDeps } from '../../executor/settle-group.js'
import type { Settlement, SimulatedMatch, SimulationResult } from '../../executor/settlement.js'
import { createLog } from '../../runtime/process/log.js'
import { matchClaiming, readsWith } from '../support/claims.js'

const MANAGER = `0x${'a1'.repeat(20)}` as const
const ASSET = `0x${'c1'.repeat(20)}` as const

/** Each account has an owner of its own. */
export const ownerOf = (accountId: bigint): Address =>
  `0x${accountId.toString(16).padStart(40, '0')}`

/** What settlements are settled with, where the simulation says what the test says. */
export interface GroupRig {
  /** What each account has. */
  balance: bigint
  /** The most matches of one transaction. */
  maxPacked: number
  /** The gas of a block. */
  blockGas: bigint
  /** What a match of the account brings in, in USDC at 1e18. */
  fee: (accountId: bigint) => bigint
  trial: (matches: readonly Settlement[]) => SimulationResult
  /** The signers that are code. */
  code: ReadonlySet<Address>
  /** What was packed into each transaction that was sent. */
  readonly sent: SimulatedMatch[][]
  readonly deps: (maxAhead: number) => GroupDeps
  /** A settlement in which an account pays so much to account 99. */
  readonly paying: (intentId: string, accountId: bigint, amount: bigint) => Settlement
  /** Puts so many matches of account 1 in flight, from this nonce on. */
  readonly inFlight: (n: number, evmNonce: number) => void
}

const payingFee = (fee: bigint, match: MarketMatch): MarketMatch => ({
  ...match,
  terms: { ...match.terms, takerFee: quoteE18(fee) },
})

export function groupRig(): GroupRig {
  const book = createInFlightBook()
  let next = 20
  let packed: SimulatedMatch[] = []
  const takes: Partial<TransactionSender> = {
    readGas: (() =>
      Promise.resolve({
        maxFeePerGas: 3n,
        maxPriorityFeePerGas: 2n,
        baseFeePerGas: 1n,
        blockGasLimit: rig.blockGas,
      })) as TransactionSender['readGas'],
    address: MANAGER,
    shortage: () => undefined,
    take: ({ intents }): OpenTransaction => {
      next += 1
      rig.sent.push(packed)
      const intentIds = intents.map(({ intentId }) => intentId)
      return { from: MANAGER, evmNonce: next, intentIds, attempts: [] }
    },
  }
  const journal: Partial<GroupDeps['journal']> = { recordRefusal: () => undefined }
  const rig: GroupRig = {
    balance: 100n,
    maxPacked: 64,
    fee: () => 0n,
    blockGas: 1_000n,
    code: new Set(),
    sent: [],
    trial: (matches) => ({
      aheadPassed: true,
      verdicts: matches.map(() => ({ kind: 'passes', gas: 1n })),
    }),
    paying: (intentId, accountId, amount) => ({
      intentId,
      fingerprint: '0x02',
      call: `0x${intentId}`,
      parties: [{ owner: ownerOf(accountId), signer: ownerOf(accountId), desired: 1n }],
      accountIds: [accountId, 99n],
      match: payingFee(
        rig.fee(accountId),
        matchClaiming({ key: balanceClaim(accountId, ASSET, 0n), debit: amount }),
      ),
    }),
    inFlight: (n, evmNonce) => {
      for (let i = 0; i < n; i += 1) book.add(evmNonce + i, [rig.paying(`f${i}`, 1n, 30n)])
    },
    deps: (maxAhead) => ({
      book,
      facts: observeExecutor(createLog('test', 'silent')),
      readClaims: () => readsWith((keys) => Promise.resolve(keys.map(() => rig.balance))),
      readCode: (signers) =>
        Promise.resolve(new Set(signers.filter((signer) => rig.code.has(signer)))),
      isUnchanged: () => Promise.resolve(true),
      txSender: takes as TransactionSender,
      journal: journal as GroupDeps['journal'],
      packer: {
        maxGroup: 64,
        maxAhead,
        simulate: (_, matches) => Promise.resolve(rig.trial(matches as readonly Settlement[])),
        pack: (matches) => {
          const count = Math.min(matches.length, rig.maxPacked)
          packed = matches.slice(0, count)
          return { count, to: ASSET, data: '0xda', gasLimit: 5n, isFull: count < matches.length }
        },
      },
    }),
  }
  return rig
}
