import { el, panel } from './dom.js'
import { accountsOf, connectWallet, injectedWallet, type Account } from './keys.js'

export interface AccountView {
  readonly section: HTMLElement
  readonly account: () => Account | undefined
}

/** Chooses who signs. Keys stay in this page's memory and are gone when it is closed. */
export function createAccountView(
  venue: { readonly chain_id: number; readonly matching: string },
  onChange: () => void,
): AccountView {
  const { section, body } = panel('Account')
  let known: readonly Account[] = []
  const said = el('p', { class: 'quiet', role: 'status' })
  const choice = el('select', { 'aria-label': 'Account', onchange: onChange })
  const account = (): Account | undefined => known[choice.selectedIndex]
  const offer = (accounts: readonly Account[]): void => {
    known = accounts
    const names = accounts.map(({ name, signer }) => `${name}: ${signer.address}`)
    choice.replaceChildren(...names.map((name) => el('option', {}, name)))
    said.textContent = account() === undefined ? 'The file names no account.' : ''
    onChange()
  }
  const tell = (error: unknown): void => {
    said.className = 'error'
    said.textContent = error instanceof Error ? error.message : String(error)
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
  body.append(
    el('label', {}, 'Accounts of this devnet: its devnet.json', file),
    el('div', { class: 'row' }, connect, choice),
    said,
  )
  return { section, account }
}
