import { effect, signal, untracked, type ReadonlySignal, type Signal } from '@preact/signals'
import type { AccountsBody } from '../../client/index.js'
import { wordsOf } from '../../client/words-of.js'
import type { Terminal } from '../state/terminal.js'
import type { Trader } from '../state/trader.js'
import { venueChain, type VenueChain } from '../wallet/chain.js'
import { createConnection, type ReadyWallet, type WalletState } from '../wallet/connection.js'
import { followWallets, type Announcements, type FoundWallet } from '../wallet/discover.js'
import { WalletFault } from '../wallet/fault.js'
import {
  fundTradingAccount,
  openTradingAccount,
  type TokenName,
  type UnseenOpening,
} from '../wallet/open-account.js'
import {
  createTrading,
  type KeyPlace,
  type SessionKey,
  type TextStorage,
  type SessionTrading,
  until,
} from '../wallet/session-key.js'
import { createSender, type WalletSender } from '../wallet/transactions.js'
import type { TransferOutcome, Transfers } from './transfer.js'

/** How a deed that takes several steps goes on. */
export interface DeedProgress {
  readonly steps: readonly string[]
  readonly isOver: boolean
}

/** Wallets of this browser: which there are, which is connected, and what its owner does with it. */
export interface Wallets {
  readonly found: ReadonlySignal<readonly FoundWallet[]>
  readonly state: ReadonlySignal<WalletState>
  /** The key that trades for the connected owner; undefined where each order asks the wallet. */
  readonly key: ReadonlySignal<SessionKey | undefined>
  readonly progress: ReadonlySignal<DeedProgress | undefined>
  connect(wallet: FoundWallet): Promise<void>
  /** Shows the owner of the wallet that is ready, after another trader was shown. */
  use(): void
  switchChain(): Promise<void>
  disconnect(): void
  /** One transaction of the owner; orders ask no more until it ends. */
  readonly enable: (livesSec: number, remember: boolean) => Promise<void>
  /** The same key for longer. */
  readonly renew: (livesSec: number, remember: boolean) => Promise<void>
  /** One transaction of the owner; the key's orders leave. */
  revoke(): Promise<void>
  /** Opens an account for spot and futures, or pays into the owner's one. `amount`: decimal text with at most six decimals, in the token. */
  fundTrading(token: TokenName, amount: string): Promise<void>
  /**
   * Pays USDC into the margin account, the owner's one where there is one, and looks an earlier payment up that had no answer.
   * `amount`: as above.
   */
  fundMargin(amount: string): Promise<void>
}

/** Where a payment goes: the owner's first account under the manager that does not leave; undefined: one is opened. */
export const paidInto = (
  accounts: AccountsBody['accounts'],
  manager: string | undefined,
): string | undefined =>
  accounts.find(
    ({ manager_address: mine, leaving }) =>
      !leaving && mine.toLowerCase() === manager?.toLowerCase(),
  )?.subaccount_id

/** What wallets need of the browser. */
export interface WalletBrowser {
  readonly page: Announcements
  /** `window.ethereum`. */
  readonly legacy: unknown
  /** Has the wallet of last time; undefined where the browser keeps nothing. */
  readonly storage: TextStorage | undefined
  /** Where session keys are: of this tab, and beyond it. */
  readonly tab: KeyPlace
  readonly vault: KeyPlace | undefined
}

const LAST_WALLET = 'terminal-wallet'

/** Follows the wallets for as long as the page lives; the trader of the terminal follows the wallet that is ready. */
export function createWallets(
  terminal: Terminal,
  transfers: Pick<Transfers, 'deposit'>,
  browser: WalletBrowser,
): Wallets {
  const { storage } = browser
  const chain = venueChain(terminal.facts)
  const found = signal<readonly FoundWallet[]>([])
  const state = signal<WalletState>({ kind: 'none' })
  const key = signal<SessionKey | undefined>(undefined)
  const progress = signal<DeedProgress | undefined>(undefined)
  const trading = createTrading({
    accounts: (owner) => terminal.venue.accounts(owner),
    tab: browser.tab,
    vault: browser.vault,
    nowMs: () => terminal.nowSec.value * 1_000,
  })
  const enter = (ready: ReadyWallet, known: SessionKey | undefined): void => {
    key.value = known
    terminal.enter(traderOf(ready, known))
  }
  const connection = createConnection(chain, (next) => {
    const before = state.value
    state.value = next
    if (next.kind !== 'ready') {
      // What belonged to the account before leaves first.
      if (before.kind === 'ready') {
        key.value = undefined
        terminal.enter(undefined)
      }
      return
    }
    storage?.setItem(LAST_WALLET, next.wallet.rdns)
    const isStill = (): boolean => state.value === next
    // A browser that keeps no keys trades by prompts.
    trading.known(next.address).then(
      (known) => isStill() && enter(next, known),
      () => isStill() && enter(next, undefined),
    )
  })
  let resumed = false
  followWallets(
    browser.page,
    (wallets) => {
      found.value = wallets
      const last = wallets.find(({ rdns }) => rdns === storage?.getItem(LAST_WALLET))
      if (resumed || last === undefined) return
      resumed = true
      void connection.resume(last)
    },
    browser.legacy,
  )
  endWithKey(terminal, { state, key, enter })
  const deed = createDeed({ terminal, state, progress, chain })
  return {
    found,
    state,
    key,
    progress,
    connect: (wallet) => connection.connect(wallet),
    use() {
      if (state.value.kind === 'ready') enter(state.value, key.value)
    },
    switchChain: () => connection.switchChain(),
    disconnect() {
      storage?.removeItem(LAST_WALLET)
      connection.disconnect()
    },
    ...keyWays({ state, key, trading, enter }, deed),
    ...fundWays(terminal, transfers, deed),
  }
}

interface EnteredKey {
  readonly state: ReadonlySignal<WalletState>
  readonly key: Signal<SessionKey | undefined>
  readonly enter: (ready: ReadyWallet, known: SessionKey | undefined) => void
}

/** A key that has ended signs nothing that the venue takes: from then on each order asks the wallet. */
function endWithKey({ own, nowSec, toasts }: Terminal, { state, key, enter }: EnteredKey): void {
  effect(() => {
    const ended = key.value
    const now = state.value
    if (ended === undefined || now.kind !== 'ready' || nowSec.value < ended.expirySec) return
    untracked(() => {
      if (own.value?.trader.kind === 'wallet') enter(now, undefined)
      else key.value = undefined
      toasts.tell({
        id: 'key',
        kind: 'bad',
        text: 'The key has ended: each order asks the wallet again.',
      })
    })
  })
}

/** Runs a deed of the ready wallet, and says how it goes on; while one runs no other begins. */
type RunDeed = (
  act: (ready: ReadyWallet, sender: WalletSender, step: (words: string) => void) => Promise<void>,
) => Promise<void>

interface DeedParts {
  readonly terminal: Terminal
  readonly chain: VenueChain
  readonly state: ReadonlySignal<WalletState>
  readonly progress: Signal<DeedProgress | undefined>
}

function createDeed({ terminal, chain, state, progress }: DeedParts): RunDeed {
  const step = (words: string): void => {
    progress.value = { steps: [...(progress.value?.steps ?? []), words], isOver: false }
  }
  return async (act) => {
    const ready = state.value
    if (ready.kind !== 'ready' || progress.value?.isOver === false) return
    const sender = createSender({
      provider: ready.wallet.provider,
      owner: ready.address,
      chain,
      check: () => mustBe(state.value, ready),
    })
    progress.value = { steps: [], isOver: false }
    try {
      await act(ready, sender, step)
    } catch (error) {
      step(error instanceof WalletFault ? `${error.message} ${error.cure}` : wordsOf(error))
    } finally {
      progress.value = { steps: progress.value.steps, isOver: true }
      terminal.own.value?.reread()
    }
  }
}

interface KeyParts {
  readonly state: ReadonlySignal<WalletState>
  readonly key: ReadonlySignal<SessionKey | undefined>
  readonly trading: SessionTrading
  readonly enter: (ready: ReadyWallet, known: SessionKey | undefined) => void
}

function keyWays(
  { state, key, trading, enter }: KeyParts,
  deed: RunDeed,
): Pick<Wallets, 'enable' | 'renew' | 'revoke'> {
  const register =
    (isRenewed: boolean) =>
    (livesSec: number, remember: boolean): Promise<void> =>
      deed(async (ready, sender, step) => {
        const options = { livesSec, remember, onStep: (each: object) => step(stepWords(each)) }
        const known = key.value
        const made =
          isRenewed && known !== undefined
            ? await trading.renew(sender, known, options)
            : await trading.enable(sender, options)
        if (state.value === ready) enter(ready, made)
      })
  return {
    enable: register(false),
    renew: register(true),
    revoke: () =>
      deed(async (ready, sender, step) => {
        const known = key.value
        if (known === undefined) return
        enter(ready, undefined)
        await trading.revoke(sender, known.address, (each) => step(stepWords(each)))
      }),
  }
}

function fundWays(
  { venue, facts, own }: Terminal,
  transfers: Pick<Transfers, 'deposit'>,
  deed: RunDeed,
): Pick<Wallets, 'fundTrading' | 'fundMargin'> {
  /** Margin accounts that were opened here, by owner: the venue lists them a block or two later. */
  const opened = new Map<string, string>()
  const unseen = new Map<`0x${string}`, UnseenOpening>()
  /** Reads the owner's accounts: what the page knows of them may be older than the account that was just opened. */
  const accountOf = async (
    { address }: ReadyWallet,
    manager: string | undefined,
  ): Promise<string | undefined> => {
    if (own.value?.trader.owner.toLowerCase() !== address)
      throw new WalletFault(
        'account_changed',
        'The page shows another account than the wallet’s.',
        'Trade with the wallet first, then pay in.',
      )
    return paidInto((await venue.accounts(address)).accounts, manager)
  }
  return {
    fundTrading: (token, amount) =>
      deed(async (ready, sender, step) => {
        const onStep = (each: object): void => step(stepWords(each))
        const manager = facts.contracts.spot_manager as `0x${string}`
        const subaccountId = await accountOf(ready, manager)
        const accounts = (owner: string) => venue.accounts(owner)
        const terms = { facts, token, amount, manager, accounts, unseen, onStep }
        if (subaccountId === undefined) await openTradingAccount(sender, terms)
        else {
          unseen.delete(ready.address)
          await fundTradingAccount(sender, { ...terms, subaccountId })
        }
      }),
    fundMargin: (amount) =>
      deed(async (ready, _sender, step) => {
        const onStep = (each: object): void => step(stepWords(each))
        const { address } = ready
        const listed = await accountOf(ready, facts.contracts.perp_manager)
        const subaccountId = listed ?? opened.get(address)
        const trader = traderOf(ready, undefined)
        const outcome = await transfers.deposit({ trader }, { amount, subaccountId, onStep })
        const { hash, credited } = mustBeConfirmed(outcome)
        onStep({ step: 'deposit', state: 'done', hash })
        if (credited === undefined || credited === listed) return
        opened.set(address, credited)
        onStep({ step: 'find', state: 'waiting' })
        const isListed = async (): Promise<boolean> =>
          (await venue.accounts(address)).accounts.some(({ subaccount_id: id }) => id === credited)
        await until(isListed, {}, hash as `0x${string}`)
        onStep({ step: 'find', state: 'done' })
      }),
  }
}

/** Throws WalletFault `reverted`, which names the transaction where there is one. */
function mustBeConfirmed(outcome: TransferOutcome): TransferOutcome {
  const { status, hash } = outcome
  if (status === 'confirmed') return outcome
  throw new WalletFault(
    'reverted',
    status === 'rejected'
      ? 'The venue did not take the deposit.'
      : 'The chain refused the deposit.',
    'Check the amount and the balance of the wallet, then try again.',
    hash,
  )
}

const traderOf = (
  { wallet, address, signer }: ReadyWallet,
  key: SessionKey | undefined,
): Trader => ({
  kind: 'wallet',
  name: wallet.name,
  owner: address,
  known: new Map(),
  signer: key?.signer ?? signer,
  moneySigner: signer,
  isSilent: key !== undefined,
})

function mustBe(now: WalletState, { address }: ReadyWallet): void {
  if (now.kind === 'ready' && now.address === address) return
  throw new WalletFault(
    'account_changed',
    'The wallet has another account or another chain by now.',
    'Look at what is chosen, then try again.',
  )
}

const STEPS: Readonly<Record<string, string>> = {
  asking: 'The wallet asks …',
  sent: 'Sent',
  mined: 'On the chain',
  waiting: 'Waiting until the venue shows it …',
  done: 'Done',
}
const DEEDS: Readonly<Record<string, string>> = {
  approve: 'Approval: ',
  open: 'Account: ',
  find: '',
  permit: 'Permit: ',
  deposit: 'Deposit: ',
}

/** A step of the wallet's modules in words, with its transaction. */
function stepWords(each: {
  readonly step?: string
  readonly state?: string
  readonly hash?: string
}): string {
  const { step = '', state, hash } = each
  const words =
    state === undefined ? (STEPS[step] ?? step) : `${DEEDS[step] ?? ''}${STEPS[state] ?? state}`
  return hash === undefined ? words : `${words}: ${hash}`
}
