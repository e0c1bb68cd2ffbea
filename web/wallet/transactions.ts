import type { Address, Hex } from '../../core/action.js'
import { mustBeOnChain, type VenueChain } from './chain.js'
import { WalletFault } from './fault.js'
import { askWallet, readHex, type Provider } from './provider.js'

/** Sends transactions of the owner through the wallet, which pays the gas. */
export interface WalletSender {
  readonly provider: Provider
  readonly owner: Address
  readonly chain: VenueChain
  /**
   * Asks the wallet to send a call, and waits until the chain has carried it out. `onHash` is told the transaction as soon as the
   * wallet has sent it. Throws WalletFault: `reverted` and `no_receipt` name the transaction.
   */
  send(call: OwnerCall): Promise<Hex>
}

export interface OwnerCall {
  readonly to: Address
  readonly data: Hex
  /** What it does, in a sentence: "the approval". */
  readonly deed: string
  readonly onHash?: (hash: Hex) => void
}

export interface SenderParts {
  readonly provider: Provider
  readonly owner: Address
  readonly chain: VenueChain
  /** Throws WalletFault where the wallet has another account by now. */
  readonly check: () => void
  /** Milliseconds between two looks for a receipt, and how long it is looked for. */
  readonly everyMs?: number
  readonly withinMs?: number
}

const EVERY_MS = 1_000
/** The user may have raised the fee in the wallet: the receipt is then another transaction's. */
const WITHIN_MS = 180_000

export function createSender(parts: SenderParts): WalletSender {
  const { provider, owner, chain, check, everyMs = EVERY_MS, withinMs = WITHIN_MS } = parts
  return {
    provider,
    owner,
    chain,
    async send({ to, data, deed, onHash }) {
      check()
      // Right before: on another chain under the same address there may be anything.
      await mustBeOnChain(provider, chain)
      const params = [{ from: owner, to, data, value: '0x0' }]
      const hash = readHex(
        await askWallet(provider, { method: 'eth_sendTransaction', params, deed, prompts: true }),
        deed,
      )
      onHash?.(hash)
      const status = await waitForReceipt(provider, hash, { everyMs, withinMs })
      if (status === '0x1') return hash
      throw status === undefined
        ? new WalletFault(
            'no_receipt',
            `The chain has not carried out ${deed} yet.`,
            'Look at the transaction in the wallet; do not send it again before it has ended.',
            hash,
          )
        : new WalletFault(
            'reverted',
            `The chain refused ${deed}.`,
            'Check the amounts, then try again.',
            hash,
          )
    },
  }
}

interface ReceiptWait {
  readonly everyMs: number
  readonly withinMs: number
}

/** The status of the receipt; undefined when there is none in time. */
async function waitForReceipt(
  provider: Provider,
  hash: Hex,
  { everyMs, withinMs }: ReceiptWait,
): Promise<unknown> {
  const deadline = performance.now() + withinMs
  while (performance.now() < deadline) {
    const status = await readStatus(provider, hash)
    if (status !== undefined) return status
    await new Promise((resolve) => setTimeout(resolve, everyMs))
  }
  return undefined
}

async function readStatus(provider: Provider, hash: Hex): Promise<unknown> {
  try {
    const receipt = await askWallet(provider, {
      method: 'eth_getTransactionReceipt',
      params: [hash],
      deed: 'the receipt',
    })
    return (receipt as { readonly status?: unknown } | null)?.status
  } catch (error) {
    // The transaction is on its way whether or not this read of it is answered.
    if (error instanceof WalletFault) return undefined
    throw error
  }
}
