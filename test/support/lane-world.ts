import type { LaneFacts } from '../../chain/lane-facts.js'
import { observeLane } from '../../chain/observe-lane.js'
import { createTransactionSigner } from '../../chain/sign-transaction.js'
import { openLane } from '../../chain/transaction-lane.js'
import type { LaneOptions, TransactionLane } from '../../chain/transaction-lane.js'
import type { OpenTransaction } from '../../chain/transaction-journal.js'
import type { Hex } from '../../core/action.js'
import { ANVIL_CHAIN_ID } from './anvil.js'
import type { Anvil } from './anvil.js'
import { openMemoryJournal } from './memory-journal.js'
import type { MemoryJournal } from './memory-journal.js'

/** Looks and doubts as fast as a chain that mines at once goes on. */
export const FAST_LANE = { pollMs: 10, doubtEveryMs: 10, absences: 3 }
const GAS_MONEY_WEI = 10n ** 20n

export interface ChainLane extends TransactionLane {
  readonly journal: MemoryJournal
  /** Names of the facts told, in order. */
  readonly told: readonly string[]
  /** One transaction of the key to itself, for these intents. */
  readonly send: (...intentIds: string[]) => Promise<OpenTransaction>
}

let keys = 0

/** A key that no test used before, with gas money on the chain. */
export async function aFundedKey({ client }: Anvil): Promise<Hex> {
  keys += 1
  const key: Hex = `0x${(77_000 + keys).toString(16).padStart(64, '0')}`
  const { address } = createTransactionSigner(key, ANVIL_CHAIN_ID)
  await client.setBalance({ address, value: GAS_MONEY_WEI })
  return key
}

/** A lane of the key on a real node. */
export async function openChainLane(
  rpcUrl: string,
  key: Hex,
  options: Partial<LaneOptions> = {},
): Promise<ChainLane> {
  const told: string[] = []
  const silent = (): undefined => undefined
  const quiet = observeLane({ debug: silent, info: silent, warn: silent, error: silent }, 'intent')
  const facts = Object.fromEntries(
    Object.keys(quiet).map((name) => [name, () => void told.push(name)]),
  ) as unknown as LaneFacts
  const journal = (options.journal as MemoryJournal | undefined) ?? openMemoryJournal()
  const lane = await openLane({
    signer: createTransactionSigner(key, ANVIL_CHAIN_ID),
    rpcUrl,
    onFatal: (error) => {
      throw error
    },
    ...options,
    journal,
    facts: { ...facts, ...options.facts },
    policy: { ...FAST_LANE, ...options.policy },
  })
  const send = async (...intentIds: string[]) => {
    const { maxFeePerGas, maxPriorityFeePerGas } = await lane.readGas()
    const intents = intentIds.map((intentId) => ({
      intentId,
      fingerprint: `0x${'f1'.repeat(32)}` as const,
    }))
    const fees = { gasLimit: 50_000n, maxFeePerGas, maxPriorityFeePerGas }
    return lane.take({ intents, to: lane.address, data: '0x01', fees })
  }
  return { ...lane, journal, told, send }
}
