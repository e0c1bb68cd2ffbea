import type { OpenTransaction } from '../../core/transaction-journal.js'
import {
  openTransactionSender,
  type TransactionSenderOptions,
  type TransactionSender,
} from '../../chain/sender/transaction-sender.js'
import { createTransactionSigner } from '../../chain/signing/keys.js'
import type { Hex } from '../../core/action.js'
import { ANVIL_CHAIN_ID, type Anvil } from './anvil.js'
import { factsTo } from './sender-facts.js'
import { openMemoryJournal, type MemoryJournal } from './memory-journal.js'

/** Looks and doubts as fast as a chain that mines at once goes on. */
export const FAST_SENDER = { pollMs: 10, doubtEveryMs: 10, absences: 3 }
const GAS_MONEY_WEI = 10n ** 20n

export interface SenderOnChain extends TransactionSender {
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

/** A sender of the key on a real node. */
export async function openSenderOnChain(
  rpcUrl: string,
  key: Hex,
  options: Partial<TransactionSenderOptions> = {},
): Promise<SenderOnChain> {
  const told: string[] = []
  const facts = factsTo(told)
  const journal = (options.journal as MemoryJournal | undefined) ?? openMemoryJournal()
  const txSender = await openTransactionSender({
    signer: createTransactionSigner(key, ANVIL_CHAIN_ID),
    rpcUrl,
    onFatal: (error) => {
      throw error
    },
    ...options,
    journal,
    facts: { ...facts, ...options.facts },
    policy: { ...FAST_SENDER, ...options.policy },
  })
  const send = async (...intentIds: string[]) => {
    const { maxFeePerGas, maxPriorityFeePerGas } = await txSender.readGas()
    const intents = intentIds.map((intentId) => ({
      intentId,
      fingerprint: `0x${'f1'.repeat(32)}` as const,
    }))
    const fees = { gasLimit: 50_000n, maxFeePerGas, maxPriorityFeePerGas }
    return txSender.take({ intents, to: txSender.address, data: '0x01', fees })
  }
  return { ...txSender, journal, told, send }
}
