import { el, panel } from './dom.js'
import type { DemoAccount } from './demo-account.js'
import { pressOnce, wordsOf } from './place-once.js'
import { accountsOf, connectWallet, injectedWallet, type Account } from './keys.js'

export interface AccountView {
  readonly section: HTMLElement
  readonly account: () => Account | undefined
  /** Opens what is shown again, for the same account. */
  readonly reopen: () => void
}

/** What of the venue the choice of an account needs. */
export interface AccountVenue {
  readonly chain_id: number
  readonly matching: string
  /** Gives play money and remembers it; undefined where there is none. */
  readonly demo: DemoAccount | undefined
}

/** Chooses who signs. Keys stay in this page's memory and are gone when it is closed. */
export function createAccountView(venue: AccountVenue, onChange: () => void): AccountView {
  const { section, body } = panel('Account')
  let known: readonly Account[] = []
  const said = el('p', { class: 'quiet', role: 'status' })
  const choice = el('select', { 'aria-label': 'Account', onchange: onChange })
  const account = (): Account | undefined => known[choice.selectedIndex]
  const list = (accounts: readonly Account[]): void => {
    known = accounts
    const names = accounts.map(({ name, signer }) => `${name}: ${signer.address}`)
    choice.replaceChildren(...names.map((name) => el('option', {}, name)))
  }
  const offer = (accounts: readonly Account[]): void => {
    list(accounts)
    said.textContent = account() === undefined ? 'The file names no account.' : ''
    onChange()
  }
  const tell = (error: unknown): void => {
    said.className = 'error'
    said.textContent = wordsOf(error)
  }
  const file = el('input', {
    ...{ type: 'file', accept: '.json,application/json', id: 'devnet' },
    onchange: (event) => {
      const [chosen] = (event.target as HTMLInputElement).files ?? []
      if (chosen !== undefined) {
        chosen
          .text()
          .then((text) => offer(accountsOf(text, venue)))
          .catch(tell)
      }
    },
  })
  const wallet = injectedWallet()
  const connect = el(
    'button',
    {
      ...{ type: 'button', disabled: wallet === undefined },
      onclick: () => {
        if (wallet === undefined) return
        connectWallet(wallet)
          .then((one) => offer([one]))
          .catch(tell)
      },
    },
    wallet === undefined ? 'No wallet in this browser' : 'Connect the wallet',
  )
  const { demo } = venue
  body.append(
    ...(demo === undefined ? [] : demoButton(demo, said, offer)),
    el('label', {}, 'Accounts of this devnet: its devnet.json', file),
    el('div', { class: 'row' }, connect, choice),
    said,
  )
  // Who has traded here before goes on.
  const before = demo?.known()
  if (before !== undefined) list([before])
  return { section, account, reopen: onChange }
}

/** The way in without a wallet: one press. */
function demoButton(
  demo: DemoAccount,
  said: HTMLElement,
  offer: (accounts: readonly Account[]) => void,
): readonly HTMLElement[] {
  const button = el('button', { class: 'main', type: 'button' }, 'Trade with a demo account')
  const once = pressOnce([button])
  const say = (text: string, className: string): void => {
    said.className = className
    said.textContent = text
  }
  const open = async (): Promise<void> => {
    say('Opening accounts with play money …', 'quiet')
    await demo.open().then(
      (account) => offer([account]),
      (error: unknown) => say(wordsOf(error), 'error'),
    )
  }
  button.addEventListener('click', () => void once(open))
  const note = 'Play money, worth nothing; its key stays in this browser.'
  return [button, el('p', { class: 'quiet' }, note)]
}
