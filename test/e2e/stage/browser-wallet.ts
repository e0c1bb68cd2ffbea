import type { Page } from 'playwright-core'
import { createWalletClient, http, type Hex } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import type { Devnet } from '../../support/venue.js'

/** What of a devnet a wallet needs. */
export type WalletPlace = Pick<Devnet, 'chain_id' | 'rpc_url'>

/** What stands on a chain that the wallet has under a number: the venue's chain, or another one, on which there is nothing. */
export type ChainIn = 'venue' | 'empty'

/**
 * A wallet that announces itself to a page by EIP-6963, as an extension does, and whose user is the test. It signs with keys of the
 * devnet and sends to its chain.
 */
export interface BrowserWallet {
  /** Each time it asked its user, by the method; `clear` begins anew. */
  readonly prompts: string[]
  /** What it would have sent to a chain that is not the venue's: money that would have been lost. */
  readonly misled: string[]
  /** The chains that it knows; the wallet is on one of them. */
  readonly chains: Map<number, ChainIn>
  /** The user rejects the next question of this method. */
  rejectNext(method: string): void
  /** The next question of this method waits until the returned function is called. */
  holdNext(method: string): () => void
  /** The user takes another chain in the wallet. */
  moveTo(chainId: number): Promise<void>
  /** The user takes another account in the wallet. */
  choose(key: Hex): Promise<void>
  /** The user locks it. */
  lock(): Promise<void>
}

/** Of a chain where real ether is spent. */
export const BASE_CHAIN_ID = 8_453

const PROMPTS = new Set([
  ...['eth_requestAccounts', 'eth_sendTransaction', 'eth_signTypedData_v4', 'personal_sign'],
  ...['wallet_switchEthereumChain', 'wallet_addEthereumChain'],
])

/** What an extension runs in each page before the page's own scripts. */
const ANNOUNCER = `(() => {
  const listeners = new Map()
  const provider = {
    async request({ method, params = [] }) {
      const { failed, value } = await globalThis.askTestWallet(JSON.stringify({ method, params }))
      if (failed === undefined) return value
      throw Object.assign(new Error(failed.message), { code: failed.code })
    },
    on: (event, listener) => listeners.set(event, (listeners.get(event) ?? new Set()).add(listener)),
    removeListener: (event, listener) => listeners.get(event)?.delete(listener),
  }
  globalThis.tellFromTestWallet = (event, value) => {
    for (const listener of [...(listeners.get(event) ?? [])]) listener(value)
  }
  const info = Object.freeze({
    uuid: '1f2d5f6a-8c1e-4b7f-9d43-000000000001', name: 'Test Wallet', rdns: 'test.wallet', icon: 'data:image/svg+xml,<svg/>',
  })
  const announce = () =>
    window.dispatchEvent(new CustomEvent('eip6963:announceProvider', { detail: Object.freeze({ info, provider }) }))
  window.addEventListener('eip6963:requestProvider', announce)
  announce()
})()`

interface Question {
  readonly method: string
  readonly params: readonly unknown[]
}

/** Installs the wallet for every document that the page opens from now on. It begins on the venue's chain, not connected. */
export async function installWallet(
  page: Page,
  { chain_id: venueChainId, rpc_url }: WalletPlace,
  firstKey: Hex,
): Promise<BrowserWallet> {
  const chains = new Map<number, ChainIn>([
    [venueChainId, 'venue'],
    [BASE_CHAIN_ID, 'empty'],
  ])
  const [prompts, misled]: [string[], string[]] = [[], []]
  const rejected = new Set<string>()
  const held = new Map<string, Promise<void>>()
  let [key, chainId, isConnected] = [firstKey, venueChainId, false]
  const addresses = (): string[] => (isConnected ? [privateKeyToAccount(key).address] : [])
  const tell = async (event: string, value: unknown): Promise<void> =>
    page.evaluate(
      `globalThis.tellFromTestWallet?.(${JSON.stringify(event)}, ${JSON.stringify(value)})`,
    )
  const moveTo = async (to: number): Promise<void> => {
    if (to === chainId) return
    chainId = to
    await tell('chainChanged', hexOf(to))
  }
  const askUser = async ({ method }: Question): Promise<void> => {
    prompts.push(method)
    await held.get(method)
    held.delete(method)
    if (rejected.delete(method)) throw new Refused(4001, 'User rejected the request.')
  }
  const send = async (transaction: { readonly to: Hex; readonly data: Hex }): Promise<Hex> => {
    if (chains.get(chainId) !== 'venue') {
      misled.push(transaction.to)
      throw new Refused(-32000, 'this chain is not the venue’s')
    }
    const account = privateKeyToAccount(key)
    const client = createWalletClient({ account, transport: http(rpc_url) })
    return client.sendTransaction({ chain: null, to: transaction.to, data: transaction.data })
  }
  const sign = (typed: string): Promise<Hex> => {
    const data = JSON.parse(typed) as { readonly domain: { readonly chainId: number | string } }
    if (Number(data.domain.chainId) !== chainId)
      throw new Refused(-32603, 'the chain of the domain is not the wallet’s')
    return privateKeyToAccount(key).signTypedData(data as never)
  }
  const answer = async ({ method, params }: Question): Promise<unknown> => {
    switch (method) {
      case 'eth_requestAccounts':
        isConnected = true
        return addresses()
      case 'eth_accounts':
        return addresses()
      case 'eth_chainId':
        return hexOf(chainId)
      case 'wallet_switchEthereumChain': {
        const asked = Number((params[0] as { readonly chainId: string }).chainId)
        if (!chains.has(asked)) throw new Refused(4902, 'Unrecognized chain ID.')
        await moveTo(asked)
        return null
      }
      case 'wallet_addEthereumChain': {
        const { chainId: asked, rpcUrls } = params[0] as AskedChain
        chains.set(Number(asked), rpcUrls[0] === rpc_url ? 'venue' : 'empty')
        return null
      }
      case 'eth_sendTransaction':
        return send(params[0] as { readonly to: Hex; readonly data: Hex })
      case 'eth_signTypedData_v4':
        return sign(params[1] as string)
      case 'personal_sign':
        return privateKeyToAccount(key).signMessage({ message: { raw: params[0] as Hex } })
      default:
        return read({ method, params })
    }
  }
  /** Everything else is read of the chain that the wallet is on. */
  const read = async ({ method, params }: Question): Promise<unknown> => {
    if (chains.get(chainId) !== 'venue') return method === 'eth_getTransactionReceipt' ? null : '0x'
    const response = await fetch(rpc_url, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
    })
    const { result, error } = (await response.json()) as {
      readonly result?: unknown
      readonly error?: { readonly code: number; readonly message: string }
    }
    if (error !== undefined) throw new Refused(error.code, error.message)
    return result
  }
  await page.exposeFunction('askTestWallet', async (text: string) => {
    const question = JSON.parse(text) as Question
    try {
      if (PROMPTS.has(question.method)) await askUser(question)
      return { value: await answer(question) }
    } catch (error) {
      if (error instanceof Refused) return { failed: { code: error.code, message: error.message } }
      return { failed: { code: -32603, message: String(error) } }
    }
  })
  await page.addInitScript(ANNOUNCER)
  return {
    prompts,
    misled,
    chains,
    moveTo,
    rejectNext: (method) => void rejected.add(method),
    holdNext(method) {
      let release: () => void = () => undefined
      held.set(method, new Promise((resolve) => (release = resolve)))
      return () => release()
    },
    async choose(other) {
      key = other
      await tell('accountsChanged', addresses())
    },
    async lock() {
      isConnected = false
      await tell('accountsChanged', [])
    },
  }
}

interface AskedChain {
  readonly chainId: string
  readonly rpcUrls: readonly string[]
}

/** What a wallet answers in place of a value. */
class Refused extends Error {
  constructor(
    readonly code: number,
    message: string,
  ) {
    super(message)
  }
}

const hexOf = (id: number): string => `0x${id.toString(16)}`
