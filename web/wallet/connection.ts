import type { Address } from '../../core/action.js'
import { chainFault, lookAtChain, switchChain, type VenueChain } from './chain.js'
import type { FoundWallet } from './discover.js'
import { faultOf, WalletFault } from './fault.js'
import { askWallet, readAddresses } from './provider.js'
import { walletSigner, type Signer } from './signer.js'

/** A wallet with an account on the venue's chain. */
export interface ReadyWallet {
  readonly kind: 'ready'
  readonly wallet: FoundWallet
  /** In lower case. */
  readonly address: Address
  /** Asks the wallet each time; refuses once the wallet has another account or chain. */
  readonly signer: Signer
}

/**
 * Where the page stands with a wallet. `fault` says what went wrong last, until the next step; whatever it is, the next try needs no
 * reload. While the account or the chain changes the state is `connecting`, without an address: what belonged to the account
 * before leaves first.
 */
export type WalletState = (
  | { readonly kind: 'none' }
  | { readonly kind: 'connecting'; readonly wallet: FoundWallet }
  /** `isSwitching`: the wallet asks its user to switch. */
  | {
      readonly kind: 'wrong_chain' | 'not_the_venue'
      readonly wallet: FoundWallet
      readonly address: Address
      readonly isSwitching: boolean
    }
  | ReadyWallet
) & { readonly fault?: WalletFault }

export interface WalletConnection {
  state(): WalletState
  /** Asks the wallet for its account. What goes wrong is in the state. */
  connect(wallet: FoundWallet): Promise<void>
  /** The same without a question, for a wallet that was connected before; nothing happens where it asks to be connected again. */
  resume(wallet: FoundWallet): Promise<void>
  /** Leads the wallet to the venue's chain. */
  switchChain(): Promise<void>
  /** Forgets the wallet. */
  disconnect(): void
}

/** Begins with no wallet. `onChange` is called with each new state. */
export function createConnection(
  chain: VenueChain,
  onChange: (state: WalletState) => void,
): WalletConnection {
  const link = new Link(chain, onChange)
  return {
    state: () => link.state,
    connect: (wallet) => link.begin(wallet, 'eth_requestAccounts', true),
    resume: (wallet) => link.begin(wallet, 'eth_accounts', false),
    switchChain: () => link.switchChain(),
    disconnect: () => link.leave(),
  }
}

class Link {
  readonly #chain: VenueChain
  readonly #onChange: (state: WalletState) => void
  /** Counts what makes an answer that is still awaited void: another wallet, account or chain. */
  #epoch = 0
  #unlisten: () => void = () => undefined
  /** The look that an event of the wallet has begun last. */
  #looking: Promise<void> = Promise.resolve()
  state: WalletState = { kind: 'none' }

  constructor(chain: VenueChain, onChange: (state: WalletState) => void) {
    this.#chain = chain
    this.#onChange = onChange
  }

  begin(wallet: FoundWallet, method: string, prompts: boolean): Promise<void> {
    this.#listen(wallet)
    this.#enter({ kind: 'connecting', wallet })
    return this.#step(async (mine) => {
      const accounts = await askWallet(wallet.provider, { method, deed: 'the connection', prompts })
      if (mine !== this.#epoch) return
      const [address] = readAddresses(accounts)
      if (address === undefined) return this.leave(prompts ? locked() : undefined)
      await this.#settle(mine, wallet, address)
    }, this.leave)
  }

  async switchChain(): Promise<void> {
    const { state } = this
    if (state.kind !== 'wrong_chain' && state.kind !== 'not_the_venue') return
    const { wallet, address, kind } = state
    this.#enter({ kind, wallet, address, isSwitching: true })
    // The wallet tells of its new chain while the switch is under way: what it finds counts as much.
    await this.#step(
      async (mine) => {
        await switchChain(wallet.provider, this.#chain)
        await this.#settle(mine, wallet, address)
      },
      (fault) => this.#enter({ kind, wallet, address, isSwitching: false, fault }),
    )
    await this.#looking
  }

  readonly leave = (fault?: WalletFault): void => {
    this.#epoch += 1
    this.#unlisten()
    this.#unlisten = () => undefined
    this.#enter({ kind: 'none', ...(fault !== undefined && { fault }) })
  }

  #enter(next: WalletState): void {
    this.state = next
    this.#onChange(next)
  }

  /** Runs one step; what it throws, or what comes of it, counts only while nothing else has happened. */
  async #step(
    work: (mine: number) => Promise<void>,
    failed: (fault: WalletFault) => void,
  ): Promise<void> {
    const mine = (this.#epoch += 1)
    try {
      await work(mine)
    } catch (error) {
      if (!(error instanceof WalletFault)) throw error
      if (mine === this.#epoch) failed(error)
    }
  }

  async #settle(mine: number, wallet: FoundWallet, address: Address): Promise<void> {
    const standing = await lookAtChain(wallet.provider, this.#chain)
    if (mine !== this.#epoch) return
    if (standing.kind === 'ready') {
      const check = (): void => this.#mustBe(address)
      const signer = walletSigner(wallet.provider, address, check)
      return this.#enter({ kind: 'ready', wallet, address, signer })
    }
    const fault = chainFault(standing, this.#chain)
    this.#enter({
      kind: standing.kind,
      wallet,
      address,
      isSwitching: false,
      ...(fault && { fault }),
    })
  }

  /** Throws WalletFault unless the wallet is ready with this account. */
  #mustBe(address: Address): void {
    if (this.state.kind === 'ready' && this.state.address === address) return
    throw new WalletFault(
      'account_changed',
      'The wallet has another account or another chain by now.',
      'Look at what is chosen, then try again.',
    )
  }

  #listen(wallet: FoundWallet): void {
    const { provider } = wallet
    this.#unlisten()
    const listeners: readonly (readonly [string, (value: never) => void])[] = [
      ['accountsChanged', (accounts: unknown) => this.#onAccounts(wallet, accounts)],
      ['chainChanged', () => this.#relook(wallet)],
      ['disconnect', (error: unknown) => this.leave(faultOf(error ?? { code: 4900 }, 'anything'))],
    ]
    for (const [event, listener] of listeners) provider.on?.(event, listener)
    this.#unlisten = () => {
      for (const [event, listener] of listeners) provider.removeListener?.(event, listener)
    }
  }

  #onAccounts(wallet: FoundWallet, accounts: unknown): void {
    const [address] = readAddresses(accounts)
    if (address === undefined) return this.leave(locked())
    if ('address' in this.state && this.state.address === address) return
    this.#relook(wallet)
  }

  /** Asks for account and chain again. A rejection here is a defect of the page: it is reported as any other. */
  #relook(wallet: FoundWallet): void {
    this.#enter({ kind: 'connecting', wallet })
    this.#looking = this.#step(async (mine) => {
      const asked = { method: 'eth_accounts', deed: 'the account' }
      const [address] = readAddresses(await askWallet(wallet.provider, asked))
      if (mine !== this.#epoch) return
      if (address === undefined) return this.leave(locked())
      await this.#settle(mine, wallet, address)
    }, this.leave)
  }
}

const locked = (): WalletFault =>
  new WalletFault(
    'locked',
    'The wallet offers no account to this page.',
    'Unlock the wallet, or choose an account in it, then connect again.',
  )
