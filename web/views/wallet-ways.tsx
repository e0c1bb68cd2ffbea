import { useSignal } from '@preact/signals'
import type { JSX } from 'preact'
import { wordsOf } from '../../client/words-of.js'
import { createLock } from '../act/place-once.js'
import { paidInto, type Wallets } from '../act/wallets.js'
import type { ReadyWallet } from '../wallet/connection.js'
import { KEY_LIVES_SEC } from '../wallet/session-key.js'
import { usePage } from './page.js'

/** The wallets of this browser, and what a connected one can do: another chain, a key that trades, accounts and funds. */
export function WalletWays(): JSX.Element {
  const { wallets } = usePage()
  const state = wallets.state.value
  return (
    <div class="way">
      {state.kind === 'none' && <Found wallets={wallets} />}
      {state.kind === 'connecting' && <p class="quiet">Asking {state.wallet.name} …</p>}
      {(state.kind === 'wrong_chain' || state.kind === 'not_the_venue') && (
        <>
          <button
            type="button"
            class="main"
            disabled={state.isSwitching}
            onClick={() => void wallets.switchChain()}
          >
            {state.isSwitching ? 'The wallet asks …' : 'Switch the wallet to the venue’s chain'}
          </button>
          <button type="button" onClick={() => wallets.disconnect()}>
            Another wallet
          </button>
        </>
      )}
      {state.fault !== undefined && (
        <p class="said" role="alert">
          {state.fault.message} {state.fault.cure}
        </p>
      )}
      {state.kind === 'ready' && <Ready wallets={wallets} ready={state} />}
    </div>
  )
}

function Found({ wallets }: { readonly wallets: Wallets }): JSX.Element {
  const found = wallets.found.value
  if (found.length === 0) return <p class="quiet">No wallet in this browser.</p>
  return (
    <>
      {found.map((wallet) => (
        <button
          key={wallet.rdns}
          type="button"
          class="wallet"
          onClick={() => void wallets.connect(wallet)}
        >
          {wallet.icon !== '' && <img src={wallet.icon} alt="" width={20} height={20} />}
          Connect {wallet.name}
        </button>
      ))}
    </>
  )
}

interface ReadyParts {
  readonly wallets: Wallets
  readonly ready: ReadyWallet
}

function Ready({ wallets, ready }: ReadyParts): JSX.Element {
  const { terminal } = usePage()
  const isShown = terminal.own.value?.trader.kind === 'wallet'
  return (
    <>
      {!isShown && (
        <button type="button" class="main" onClick={() => wallets.use()}>
          Trade with {ready.wallet.name}
        </button>
      )}
      <TestFunds owner={ready.address} />
      {isShown && <KeyWays wallets={wallets} />}
      {isShown && <FundWays wallets={wallets} />}
      <Steps wallets={wallets} />
      <button type="button" onClick={() => wallets.disconnect()}>
        Disconnect the wallet
      </button>
    </>
  )
}

/** Play money for a wallet, on a devnet alone. */
function TestFunds({ owner }: { readonly owner: string }): JSX.Element | null {
  const { terminal, demo } = usePage()
  const said = useSignal('')
  const lock = useSignal(createLock()).value
  if (demo === undefined) return null
  const ask = async (): Promise<void> => {
    said.value = 'Opening accounts with play money …'
    await demo.fund(owner).then(
      () => {
        said.value = 'Two accounts with play money are open.'
        terminal.own.value?.reread()
      },
      (error: unknown) => void (said.value = wordsOf(error)),
    )
  }
  return (
    <>
      <button type="button" disabled={lock.isBusy.value} onClick={() => void lock.run(ask)}>
        Get test funds
      </button>
      <p class="said" role="status">
        {said.value}
      </p>
    </>
  )
}

/** "Enable trading": one transaction, and orders ask no more. */
function KeyWays({ wallets }: { readonly wallets: Wallets }): JSX.Element {
  const { terminal } = usePage()
  const lives = useSignal<number>(KEY_LIVES_SEC.day)
  const remembers = useSignal(false)
  const key = wallets.key.value
  const isBusy = wallets.progress.value?.isOver === false
  const left = key && Math.max(0, Math.floor((key.expirySec - terminal.nowSec.value) / 3_600))
  const enable = (): void => {
    const go = key === undefined ? wallets.enable : wallets.renew
    void go(lives.value, remembers.value)
  }
  return (
    <fieldset>
      <legend>Trade without prompts</legend>
      <p class="quiet">
        {key === undefined
          ? 'A key made in this page signs orders, changes and cancels. It can trade badly, not withdraw. One transaction registers it; you pay its gas.'
          : `A key of this page trades for you, for ${left} h more. Orders end with the key. Money still asks the wallet.`}
      </p>
      <label class="field">
        <span>For</span>
        <select
          value={lives.value}
          onChange={(event) => (lives.value = Number(event.currentTarget.value))}
        >
          <option value={KEY_LIVES_SEC.day}>24 hours</option>
          <option value={KEY_LIVES_SEC.week}>7 days</option>
        </select>
      </label>
      <label class="check">
        <input
          type="checkbox"
          checked={remembers.value}
          onChange={(event) => (remembers.value = event.currentTarget.checked)}
        />
        Remember the key in this browser
      </label>
      <button type="button" class="main" disabled={isBusy} onClick={enable}>
        {key === undefined ? 'Enable trading' : 'Renew'}
      </button>
      {key !== undefined && (
        <button type="button" disabled={isBusy} onClick={() => void wallets.revoke()}>
          Revoke
        </button>
      )}
    </fieldset>
  )
}

const KINDS = [
  ['USDC', 'USDC into a trading account'],
  ['cNGN', 'cNGN into a trading account'],
  ['margin', 'USDC into a margin account'],
] as const

/** Opens accounts and pays into them, step by step. */
function FundWays({ wallets }: { readonly wallets: Wallets }): JSX.Element {
  const { terminal } = usePage()
  const kind = useSignal<(typeof KINDS)[number][0]>('USDC')
  const amount = useSignal('')
  const isBusy = wallets.progress.value?.isOver === false
  const { spot_manager: spot, perp_manager: perp } = terminal.facts.contracts
  const own = terminal.own.value
  const subaccountId = own && paidInto(own.accounts.value, kind.value === 'margin' ? perp : spot)
  const submit = (event: Event): void => {
    event.preventDefault()
    const text = amount.value.trim()
    if (kind.value === 'margin') void wallets.fundMargin(text)
    else void wallets.fundTrading(kind.value, text)
  }
  return (
    <form onSubmit={submit}>
      <fieldset>
        <legend>
          {subaccountId === undefined ? 'Open an account' : `Fund account ${subaccountId}`}
        </legend>
        <label class="field">
          <span>What</span>
          <select
            value={kind.value}
            onChange={(event) => (kind.value = event.currentTarget.value as typeof kind.value)}
          >
            {KINDS.map(([value, words]) => (
              <option key={value} value={value}>
                {words}
              </option>
            ))}
          </select>
        </label>
        <label class="field">
          <span>Amount to pay in</span>
          <input
            inputMode="decimal"
            required
            value={amount.value}
            onInput={(event) => (amount.value = event.currentTarget.value)}
          />
          <span class="unit">{kind.value === 'cNGN' ? 'cNGN' : 'USDC'}</span>
        </label>
        <p class="quiet">
          {kind.value === 'margin'
            ? 'Two signatures, no gas.'
            : 'An approval and one transaction of your wallet; you pay the gas.'}
        </p>
        <button type="submit" disabled={isBusy}>
          {subaccountId === undefined
            ? kind.value === 'margin'
              ? 'Open margin account'
              : 'Open trading account'
            : 'Pay in'}
        </button>
      </fieldset>
    </form>
  )
}

/** How a deed goes on, with the transactions. */
function Steps({ wallets }: { readonly wallets: Wallets }): JSX.Element | null {
  const progress = wallets.progress.value
  if (progress === undefined) return null
  return (
    <div role="log" aria-label="Steps" aria-busy={!progress.isOver}>
      <ol class="life">
        {progress.steps.map((words, at) => (
          <li key={at} class="hash">
            {words}
          </li>
        ))}
      </ol>
    </div>
  )
}
