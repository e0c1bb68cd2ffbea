import { useSignal } from '@preact/signals'
import type { JSX } from 'preact'
import { developerTraders } from '../act/developer-accounts.js'
import { wordsOf } from '../../client/words-of.js'
import { createLock } from '../act/place-once.js'
import type { Trader } from '../state/trader.js'
import { Modal } from './modal.js'
import { usePage } from './page.js'
import { WalletWays } from './wallet-ways.js'

/** Who trades: a demo account, a wallet, or an account of the devnet's file. */
export function AccountDialog(): JSX.Element {
  const { terminal, demo } = usePage()
  const said = useSignal('')
  const lock = useSignal(createLock()).value
  const say = (words: string): void => void (said.value = words)
  const own = terminal.own.value
  const enter = (trader: Trader): void => {
    terminal.enter(trader)
    terminal.dialog.value = undefined
  }
  const attempt = (words: string, open: () => Promise<Trader>) => () =>
    lock.run(async () => {
      said.value = words
      await open().then(enter, (error: unknown) => void (said.value = wordsOf(error)))
    })
  return (
    <Modal title="Account">
      {own !== undefined && (
        <p>
          {own.trader.name}: <span class="hash">{own.trader.owner}</span>
        </p>
      )}
      {demo !== undefined && own?.trader.kind !== 'demo' && (
        <div class="way">
          <button
            type="button"
            class="main"
            disabled={lock.isBusy.value}
            onClick={() => void attempt('Opening accounts with play money …', () => demo.open())()}
          >
            Trade with a demo account
          </button>
          <p class="quiet">Play money, worth nothing; its key stays in this browser.</p>
        </div>
      )}
      {own?.trader.kind === 'demo' && demo !== undefined && <DemoTools />}
      <WalletWays />
      <Developer enter={enter} say={say} />
      {own !== undefined && own.trader.kind !== 'wallet' && (
        <button type="button" onClick={() => terminal.enter(undefined)}>
          Leave this account
        </button>
      )}
      <p class="said" role="status">
        {said.value}
      </p>
    </Modal>
  )
}

interface DeveloperParts {
  readonly enter: (trader: Trader) => void
  readonly say: (words: string) => void
}

/** The accounts of the devnet's file. */
function Developer({ enter, say }: DeveloperParts): JSX.Element {
  const { terminal } = usePage()
  const listed = useSignal<readonly Trader[]>([])
  return (
    <details class="way">
      <summary>Developer: accounts of this devnet</summary>
      <label>
        Its devnet.json
        <input
          id="devnet"
          type="file"
          accept=".json,application/json"
          onChange={(event) => {
            const [file] = event.currentTarget.files ?? []
            void file
              ?.text()
              .then((text) => {
                listed.value = developerTraders(text, terminal.facts)
                say(listed.value.length === 0 ? 'The file names no account.' : '')
                const [first] = listed.value
                if (first !== undefined) terminal.enter(first)
              })
              .catch((error: unknown) => say(wordsOf(error)))
          }}
        />
      </label>
      {listed.value.map((trader) => (
        <button key={trader.owner} type="button" class="link" onClick={() => enter(trader)}>
          {trader.name}: {trader.owner}
        </button>
      ))}
    </details>
  )
}

function DemoTools(): JSX.Element {
  const { terminal, demo } = usePage()
  const isShown = useSignal(false)
  const renew = (): void => {
    terminal.enter(undefined)
    demo?.forget()
  }
  return (
    <div class="way">
      <p class="quiet">Demo: play money. Its key stays in this browser.</p>
      <button type="button" onClick={() => (isShown.value = !isShown.value)}>
        {isShown.value ? 'Hide the key' : 'Export the key'}
      </button>
      <button type="button" onClick={renew}>
        Forget it, and make another
      </button>
      {isShown.value && <code class="hash">{demo?.exported()}</code>}
    </div>
  )
}
