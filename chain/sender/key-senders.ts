import type { Address, Hex } from '../../core/action.js'
import { CannotStart } from '../../core/cannot-start.js'
import { countAt } from '../reads/blocks.js'
import type { ChainClient } from '../reads/client.js'
import type { Signers } from '../signing/open-signers.js'
import { NO_RESERVE } from './gas.js'
import {
  openTransactionSender,
  type TransactionSenderOptions,
  type TransactionSender,
} from './transaction-sender.js'

export interface KeySendersOptions extends Omit<TransactionSenderOptions, 'signer'> {
  readonly signers: Signers
}

/** The sender of the key in use, and next to it that of the key before it. */
export interface KeySenders {
  /** Takes with the key in use; answers for transactions of both. */
  readonly txSender: TransactionSender
  /**
   * Whether every transaction of the old key is mined up to the block. Until then what is simulated there lacks them, so
   * the new key waits. Rejects with ChainUnreachable.
   */
  readonly isDrainedAt: (client: ChainClient, blockHash: Hex) => Promise<boolean>
}

const LOOK_EVERY_MS = 1_000

/**
 * Opens the sender of each key. A journal with unsettled transactions of a third key throws CannotStart: without that key
 * they would be abandoned. Otherwise as openTransactionSender.
 */
export async function openKeySenders(options: KeySendersOptions): Promise<KeySenders> {
  const { signers, journal, facts } = options
  const { current, retiring } = signers
  const known: readonly (Address | undefined)[] = [current.address, retiring?.address]
  const abandoned = journal.unsettledSenders().find((sender) => !known.includes(sender))
  if (abandoned !== undefined)
    throw new CannotStart(
      `the journal has transactions of ${abandoned} that are not final: put its key beside the one in use, as <key file>.retiring`,
    )
  const before = retiring && journal.unsettledTransactions(retiring.address).length > 0
  if (retiring === undefined || before !== true) {
    if (retiring !== undefined) facts.keyRetired(retiring.address)
    return {
      txSender: await openTransactionSender({ ...options, signer: current }),
      isDrainedAt: () => Promise.resolve(true),
    }
  }
  return openBoth(options, { current, retiring })
}

async function openBoth(
  options: KeySendersOptions,
  { current, retiring }: Required<Signers>,
): Promise<KeySenders> {
  const { journal, facts } = options
  // It sends nothing new, so no gas money has to be left and no count of nonces is out of order.
  const nothingNew = { reserve: NO_RESERVE, acceptNonces: Infinity }
  const old = await openTransactionSender({ ...options, ...nothingNew, signer: retiring })
  const txSender = await openTransactionSender({ ...options, signer: current })
  const unsettled = () => journal.unsettledTransactions(old.address)
  const timer = setInterval(() => {
    if (unsettled().length > 0) return
    clearInterval(timer)
    facts.keyRetired(old.address)
  }, LOOK_EVERY_MS)
  timer.unref()
  return {
    txSender: joined(txSender, old, () => clearInterval(timer)),
    isDrainedAt: async (client, blockHash) =>
      unsettled().length === 0 ||
      (await countAt(client, old.address, blockHash)) >= journal.nextNonce(old.address),
  }
}

function joined(
  txSender: TransactionSender,
  old: TransactionSender,
  onStop: () => void,
): TransactionSender {
  const of = (intentId: string) => (old.isFollowing(intentId) ? old : txSender)
  return {
    ...txSender,
    waitFor: (intentId, timeoutMs) => of(intentId).waitFor(intentId, timeoutMs),
    isFollowing: (intentId) => txSender.isFollowing(intentId) || old.isFollowing(intentId),
    wasTaken: (intentId) => of(intentId).wasTaken(intentId),
    openCount: () => txSender.openCount() + old.openCount(),
    async stop() {
      onStop()
      await Promise.all([txSender.stop(), old.stop()])
    },
  }
}
