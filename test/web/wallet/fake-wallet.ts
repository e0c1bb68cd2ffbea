import { privateKeyToAccount } from 'viem/accounts'
import type { Address, Hex } from '../../../core/action.js'
import type { FoundWallet } from '../../../web/wallet/discover.js'
import type { Provider } from '../../../web/wallet/provider.js'
import type { VenueChain } from '../../../web/wallet/chain.js'

export const CHAIN: VenueChain = {
  id: 836_832_646,
  name: 'Venue devnet',
  matching: `0x${'3a'.repeat(20)}`,
  rpcUrl: 'http://127.0.0.1:8545',
}
export const KEY: Hex = `0x${'11'.repeat(32)}`
export const OWNER = privateKeyToAccount(KEY).address.toLowerCase() as Address
export const HASH: Hex = `0x${'ab'.repeat(32)}`

/** What a wallet rejects with. */
export const rejection = (code: number, message = 'raw words of the wallet'): Error =>
  Object.assign(new Error(message), { code })

/** A wallet whose user and chain do what a test says. */
export class FakeWallet implements Provider {
  accounts: Address[] = [OWNER]
  chainId = CHAIN.id
  /** Chains that it knows, with what they hold at the matching contract. */
  chains = new Map<number, Hex>([
    [CHAIN.id, '0x60'],
    [8_453, '0x'],
  ])
  /** The next call of a method rejects with it. */
  rejects = new Map<string, Error>()
  /** Answers of a method in place of its own. */
  answers = new Map<string, (params: readonly unknown[]) => unknown>()
  /** Status of every receipt; undefined: there is none yet. */
  status: string | undefined = '0x1'
  readonly calls: { readonly method: string; readonly params: readonly unknown[] }[] = []
  readonly #listeners = new Map<string, Set<(value: never) => void>>()

  found(rdns = 'test.wallet'): FoundWallet {
    return { rdns, name: 'Test wallet', icon: '', provider: this }
  }

  prompts(): string[] {
    return this.calls.map(({ method }) => method).filter((method) => PROMPTS.includes(method))
  }

  on(event: string, listener: (value: never) => void): void {
    const known = this.#listeners.get(event) ?? new Set()
    this.#listeners.set(event, known.add(listener))
  }

  removeListener(event: string, listener: (value: never) => void): void {
    this.#listeners.get(event)?.delete(listener)
  }

  listeners(): number {
    return [...this.#listeners.values()].reduce((sum, each) => sum + each.size, 0)
  }

  emit(event: string, value: unknown): void {
    for (const listener of this.#listeners.get(event) ?? []) listener(value as never)
  }

  async request({
    method,
    params = [],
  }: {
    readonly method: string
    readonly params?: readonly unknown[]
  }): Promise<unknown> {
    this.calls.push({ method, params })
    await Promise.resolve()
    const refused = this.rejects.get(method)
    this.rejects.delete(method)
    if (refused !== undefined) throw refused
    const given = this.answers.get(method)
    return given === undefined ? this.#answer(method, params) : given(params)
  }

  #answer(method: string, params: readonly unknown[]): unknown {
    switch (method) {
      case 'eth_requestAccounts':
      case 'eth_accounts':
        return this.accounts
      case 'eth_chainId':
        return `0x${this.chainId.toString(16)}`
      case 'eth_getCode':
        return this.chains.get(this.chainId)
      case 'wallet_switchEthereumChain': {
        const id = Number((params[0] as { chainId: string }).chainId)
        if (!this.chains.has(id)) throw rejection(4902)
        this.chainId = id
        return null
      }
      case 'wallet_addEthereumChain':
        this.chains.set(Number((params[0] as { chainId: string }).chainId), '0x60')
        return null
      case 'eth_sendTransaction':
        return HASH
      case 'eth_getTransactionReceipt':
        return this.status === undefined ? null : { status: this.status }
      case 'personal_sign':
        return privateKeyToAccount(KEY).signMessage({ message: { raw: params[0] as Hex } })
      case 'eth_signTypedData_v4':
        return privateKeyToAccount(KEY).signTypedData(JSON.parse(params[1] as string) as never)
      default:
        throw rejection(4200)
    }
  }
}

const PROMPTS = [
  ...['eth_requestAccounts', 'wallet_switchEthereumChain', 'wallet_addEthereumChain'],
  ...['eth_sendTransaction', 'personal_sign', 'eth_signTypedData_v4'],
]
