import { useSignal } from '@preact/signals'
import type { JSX } from 'preact'
import { useEffect } from 'preact/hooks'
import type { Explanation } from '../../client/index.js'
import { wordsOf } from '../../client/words-of.js'
import { AccountDialog } from './account-dialog.js'
import { CloseDialog } from './close-dialog.js'
import { EditDialog } from './edit-dialog.js'
import { KEYS } from './keys.js'
import { Modal } from './modal.js'
import { usePage } from './page.js'
import { Palette } from './palette.js'
import { cancelMarked, markedOpen } from './cancels.js'
import { SettingsDialog } from './settings-dialog.js'
import { momentOf, wholeTime } from './time.js'
import { Transaction } from './transaction.js'
import { TransferDialog } from './transfer-dialog.js'

/** What stands before the page, if anything. */
export function Dialogs(): JSX.Element | null {
  const dialog = usePage().terminal.dialog.value
  switch (dialog?.name) {
    case undefined:
      return null
    case 'account':
      return <AccountDialog />
    case 'settings':
      return <SettingsDialog />
    case 'help':
      return <Help />
    case 'palette':
      return <Palette />
    case 'messages':
      return <Messages />
    case 'cancel-all':
      return <CancelAll />
    case 'cancel-marked':
      return <CancelMarked />
    case 'explain':
      return <Explain orderId={dialog.orderId} />
    case 'edit':
      return <EditDialog orderId={dialog.orderId} to={dialog.price} />
    case 'close':
      return <CloseDialog market={dialog.market} subaccountId={dialog.subaccountId} />
    case 'deposit':
    case 'withdraw':
      return <TransferDialog kind={dialog.name} subaccountId={dialog.subaccountId} />
  }
}

function Help(): JSX.Element {
  return (
    <Modal title="Keys">
      <p class="quiet">They work once they are switched on in the settings, and not in inputs.</p>
      <dl class="facts">
        {KEYS.map(({ keys, words }) => (
          <div key={keys}>
            <dt>
              <kbd>{keys}</kbd>
            </dt>
            <dd>{words}</dd>
          </div>
        ))}
      </dl>
    </Modal>
  )
}

/** What the page has said, for who has missed it. */
function Messages(): JSX.Element {
  const { toasts, prefs } = usePage().terminal
  const said = toasts.log.value
  return (
    <Modal title="Messages of this visit">
      {said.length === 0 && <p class="quiet">None yet.</p>}
      <ol class="life">
        {said.map(({ at, text, kind, hash }, index) => (
          <li key={said.length - index}>
            <time title={wholeTime(at)}>{momentOf(at, prefs.prefs.value.isUtc)}</time>
            <span class={kind === 'bad' ? 'ask' : undefined}>
              {text} {hash !== undefined && <Transaction hash={hash} />}
            </span>
          </li>
        ))}
      </ol>
    </Modal>
  )
}

function CancelAll(): JSX.Element {
  const { terminal, views, changing } = usePage()
  const name = terminal.market.value?.name ?? ''
  const count = views.openHere.value.length
  const cancel = (): void => {
    terminal.dialog.value = undefined
    void changing.cancelMarket(name)
  }
  return (
    <Modal title={`Cancel ${count} orders?`}>
      <p>All open orders of {name} are cancelled. What is matched already still settles.</p>
      <button type="button" class="main" onClick={cancel}>
        Cancel {count} orders
      </button>
    </Modal>
  )
}

function CancelMarked(): JSX.Element {
  const page = usePage()
  const count = markedOpen(page).length
  const cancel = (): void => {
    page.terminal.dialog.value = undefined
    cancelMarked(page)
  }
  return (
    <Modal title={`Cancel ${count} orders?`}>
      <p>The marked orders are cancelled. What is matched already still settles.</p>
      <button type="button" class="main" onClick={cancel}>
        Cancel {count} orders
      </button>
    </Modal>
  )
}

/** The life of an order as the venue tells it. */
function Explain({ orderId }: { readonly orderId: string }): JSX.Element {
  const { terminal } = usePage()
  const told = useSignal<Explanation | undefined>(undefined)
  const failed = useSignal('')
  useEffect(() => {
    let isGone = false
    const read = async (): Promise<void> => {
      const own = terminal.own.value
      const frame = own?.trader.isSilent === true ? await own.frame() : undefined
      const found = await terminal.venue.explainOrder(orderId, frame)
      if (!isGone) told.value = found
    }
    read().catch((error: unknown) => (failed.value = wordsOf(error)))
    return () => (isGone = true)
  }, [orderId])
  const { isUtc } = terminal.prefs.prefs.value
  const found = told.value
  return (
    <Modal title="What became of the order">
      <p class="quiet hash">{orderId}</p>
      {failed.value !== '' && <p class="ask">{failed.value}</p>}
      {found === undefined && failed.value === '' && <p class="quiet">Reading …</p>}
      {found !== undefined && (
        <>
          <p>{found.text}</p>
          {found.ends !== undefined && <p class="quiet">{found.ends}</p>}
          <ol class="life">
            {found.life.map((event, at) => (
              <li key={at}>
                {event.at !== undefined && (
                  <time title={wholeTime(event.at)}>{momentOf(event.at, isUtc)}</time>
                )}
                <span>{event.text}</span>
                {event.tx_hash !== undefined && <span class="quiet hash">{event.tx_hash}</span>}
              </li>
            ))}
          </ol>
          {!found.life_complete && <p class="quiet">Only the newest events are listed.</p>}
        </>
      )}
    </Modal>
  )
}
