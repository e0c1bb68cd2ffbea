import type { Signal } from '@preact/signals'
import type { ComponentChildren, JSX } from 'preact'
import { csvOf } from '../../core/csv.js'
import type { OwnFillRow } from '../select/fill-row.js'
import { aheadWords, type OwnOrderRow } from '../select/order-row.js'
import type { PositionRow } from '../select/position-row.js'
import { askCancelMarked, cancelHere, markedOpen, MARKED_MOST } from './cancels.js'
import { Funds } from './funds.js'
import { OwnFunding } from './own-funding.js'
import { usePage, type ViewContext } from './page.js'
import { rove } from './rove.js'
import { Market, Table } from './table.js'
import { momentOf, wholeTime } from './time.js'

export type Tab = 'positions' | 'open' | 'fills' | 'history' | 'funding' | 'funds'

/** Positions, open orders, fills, history and funds of the trader. */
export function Tables({ tab }: { readonly tab: Signal<Tab> }): JSX.Element {
  const page = usePage()
  const { terminal, views } = page
  const own = terminal.own.value
  const count = (number: number): string => (number === 0 ? '' : ` ${number}`)
  const names: readonly (readonly [Tab, string])[] = [
    ['positions', `Positions${count(views.positions.value.length)}`],
    ['open', `Open${count(views.open.value.length)}`],
    ['fills', 'Fills'],
    ['history', 'History'],
    ['funding', 'Funding'],
    ['funds', 'Funds'],
  ]
  const isOld = own !== undefined && !own.isOpen() && terminal.light.value === 'lost'
  return (
    <section class={isOld ? 'panel tables old' : 'panel tables'} aria-label="Own orders and funds">
      <div class="panel-head">
        <div class="tabs" role="group" aria-label="Lists">
          {names.map(([name, words]) => (
            <button
              key={name}
              type="button"
              aria-pressed={tab.value === name}
              onClick={() => (tab.value = name)}
            >
              {words}
            </button>
          ))}
        </div>
        <Tools tab={tab.value} />
      </div>
      <Trouble />
      <div
        class="fill scroll"
        // One stop of the tab key: arrows go through the rows.
        tabIndex={0}
        role="region"
        aria-label={tab.value}
        onKeyDown={(event) => rove(event, 'a, button, input')}
      >
        {own === undefined ? <Welcome /> : <List tab={tab.value} />}
      </div>
    </section>
  )
}

function List({ tab }: { readonly tab: Tab }): JSX.Element {
  switch (tab) {
    case 'positions':
      return <Positions />
    case 'open':
      return <OpenOrders />
    case 'fills':
      return <Fills />
    case 'history':
      return <History />
    case 'funding':
      return <OwnFunding />
    case 'funds':
      return <Funds />
  }
}

/** The way in, where there is no trader yet. */
export function Welcome(): JSX.Element {
  const { terminal, demo } = usePage()
  return (
    <div class="welcome">
      <p>
        {demo === undefined
          ? 'Connect a wallet to see your orders, positions and funds.'
          : 'Try the venue with play money: one press makes a key in this browser and opens two funded accounts.'}
      </p>
      <button
        type="button"
        class="main"
        onClick={() => (terminal.dialog.value = { name: 'account' })}
      >
        {demo === undefined ? 'Connect a wallet' : 'Open an account'}
      </button>
    </div>
  )
}

function Trouble(): JSX.Element | null {
  const own = usePage().terminal.own.value
  if (own?.trouble.value === undefined) return null
  return (
    <p class="trouble" role="alert">
      Your orders cannot be shown: {own.trouble.value}{' '}
      <button type="button" onClick={() => own.retry()}>
        Try again
      </button>
    </p>
  )
}

function Tools({ tab }: { readonly tab: Tab }): JSX.Element | null {
  const page = usePage()
  const { terminal, views, changing, isOnlyHere } = page
  const name = terminal.market.value?.name
  if (terminal.own.value === undefined) return null
  if (tab === 'open') {
    const here = views.openHere.value.length
    const marked = markedOpen(page).length
    return (
      <div class="tools">
        <label class="check">
          <input
            type="checkbox"
            checked={isOnlyHere.value}
            onChange={(event) => (isOnlyHere.value = event.currentTarget.checked)}
          />
          only {name}
        </label>
        {marked > 0 && (
          <button type="button" onClick={() => askCancelMarked(page)}>
            Cancel marked ({marked})
          </button>
        )}
        {(['buy', 'sell'] as const).map((side) => (
          <button
            key={side}
            type="button"
            class="of-side"
            disabled={!views.openHere.value.some((row) => row.side === side)}
            onClick={() => name !== undefined && void changing.cancelMarket(name, side)}
          >
            Cancel {side === 'buy' ? 'buys' : 'sells'}
          </button>
        ))}
        <button
          type="button"
          disabled={here === 0}
          onClick={() => cancelHere(page)}
        >{`Cancel all of ${name ?? ''} (${here})`}</button>
      </div>
    )
  }
  if (tab !== 'fills' && tab !== 'history') return null
  return (
    <div class="tools">
      <button type="button" onClick={() => save(page, tab)}>
        CSV
      </button>
    </div>
  )
}

/** Hands the rows to the browser as a file. */
function save({ views }: ViewContext, tab: 'fills' | 'history'): void {
  const text =
    tab === 'fills'
      ? csvOf<OwnFillRow>(views.fills.value, [
          'at',
          'market',
          'sideWords',
          'price',
          'size',
          'sizeUnit',
          'fee',
          'variation',
          'liquidity',
          'state',
          'hash',
          'orderId',
        ])
      : csvOf(
          views.ended.value.map((row) => ({
            ...row,
            at: row.record.updated_at,
            state: row.stateWords,
          })),
          ['at', 'market', 'sideWords', 'price', 'size', 'settled', 'state', 'why', 'id'],
        )
  const url = URL.createObjectURL(new Blob([text], { type: 'text/csv' }))
  const link = document.createElement('a')
  link.href = url
  link.download = `${tab}.csv`
  link.click()
  URL.revokeObjectURL(url)
}

function Positions(): JSX.Element {
  const { terminal, views } = usePage()
  const rows = views.positions.value
  const heads = [
    'Market',
    'Side',
    'Size',
    'Worth',
    'Entry',
    'Mark',
    'Liquidation near',
    'Since entry',
    '',
  ]
  return (
    <Table caption="Positions" heads={heads} isEmpty={rows.length === 0} empty="No open positions.">
      {rows.map((row) => (
        <tr key={`${row.market} ${row.subaccountId}`}>
          <Market name={row.market} />
          <td data-head="Side" class={row.side === 'long' ? 'bid' : 'ask'}>
            {row.side}
          </td>
          <td data-head="Size">
            {row.size} {row.unit}
          </td>
          <td data-head="Worth">{row.worth}</td>
          <td data-head="Entry">{row.entry}</td>
          <td data-head="Mark">{row.mark}</td>
          <td data-head="Liquidation near">{row.liquidation}</td>
          <td data-head="Since entry" class={row.isLoss ? 'ask' : 'bid'}>
            {gainWords(row)}
          </td>
          <td>
            <button
              type="button"
              tabIndex={-1}
              onClick={() =>
                (terminal.dialog.value = {
                  name: 'close',
                  market: row.market,
                  subaccountId: row.subaccountId,
                })
              }
            >
              Close<span class="unseen"> {row.market}</span>
            </button>
          </td>
        </tr>
      ))}
    </Table>
  )
}

const gainWords = ({ gain, gainUnit, isLoss, return: share }: PositionRow): string =>
  share === '' ? gain : `${isLoss ? 'loss' : 'gain'} ${gain} ${gainUnit} (${share})`

function OpenOrders(): JSX.Element {
  const { terminal, views, placing, isOnlyHere } = usePage()
  const rows = isOnlyHere.value ? views.openHere.value : views.open.value
  const sent = placing.sent.value
  const heads = ['Market', 'Side', 'Price', 'Size', 'Filled', 'State', 'Ahead', 'Placed', '']
  const { isUtc } = terminal.prefs.prefs.value
  return (
    <>
      <Table
        caption="Open orders"
        heads={heads}
        isEmpty={rows.length + sent.length === 0}
        empty="No open orders."
      >
        {sent.map((one) => (
          <tr key={one.id} class={one.sent.stage === 'refused' ? 'refused' : 'sent'}>
            <Market name={one.market} />
            <td data-head="Order" colSpan={4}>
              {one.words}
            </td>
            <td data-head="State" colSpan={3} class="reason">
              {one.sent.stage === 'refused' ? `refused: ${one.sent.words}` : `${one.sent.stage} …`}
            </td>
            <td>
              {one.sent.stage === 'refused' && (
                <button type="button" tabIndex={-1} onClick={() => placing.edit(one.id)}>
                  Edit
                </button>
              )}
            </td>
          </tr>
        ))}
        {rows.map((row) => (
          <OpenRow key={row.id} row={row} isUtc={isUtc} />
        ))}
      </Table>
    </>
  )
}

function OpenRow({
  row,
  isUtc,
}: {
  readonly row: OwnOrderRow
  readonly isUtc: boolean
}): JSX.Element {
  const { terminal, views, changing, marked } = usePage()
  const { id, record } = row
  const isLive = row.view.isLive
  const place = views.queue.value.get(id)
  const entry = terminal.entryOf(row.market)
  const mark = (isMarked: boolean): void => {
    const others = [...marked.value].filter((one) => one !== id)
    marked.value = new Set(isMarked ? [...others, id].slice(-MARKED_MOST) : others)
  }
  return (
    <tr>
      <Market name={row.market} />
      <Side row={row} />
      <td data-head={`Price, ${row.priceUnit}`}>{row.price}</td>
      <td data-head={`Size, ${row.sizeUnit}`}>
        {row.size} {row.sizeUnit}
      </td>
      <td data-head="Filled">
        {row.settled}
        {row.view.pendingBps > 0n && <span class="pending"> + {row.pending} settling</span>}
      </td>
      <td data-head="State" class="reason">
        <Explain id={id}>{row.stateWords}</Explain> {row.why} {row.tags !== '' && <i>{row.tags}</i>}
      </td>
      <td
        data-head="Ahead"
        title={place && `${place.orders} orders at its price are hit before it`}
      >
        {entry && place ? aheadWords(entry, place) : '–'}
      </td>
      <td data-head="Placed" title={wholeTime(record.created_at)}>
        {momentOf(record.created_at, isUtc)}
      </td>
      <td class="acts">
        <input
          type="checkbox"
          disabled={!isLive}
          tabIndex={-1}
          aria-label={`Mark ${id}`}
          checked={marked.value.has(id)}
          onChange={(event) => mark(event.currentTarget.checked)}
        />
        <button
          type="button"
          disabled={!isLive}
          tabIndex={-1}
          aria-label={`Edit ${id}`}
          onClick={() => (terminal.dialog.value = { name: 'edit', orderId: id })}
        >
          Edit
        </button>
        <button
          type="button"
          disabled={!isLive}
          tabIndex={-1}
          aria-label={`Cancel ${id}`}
          onClick={() => void changing.cancel(record)}
        >
          Cancel
        </button>
      </td>
    </tr>
  )
}

function Side({ row }: { readonly row: Pick<OwnOrderRow, 'side' | 'sideWords'> }): JSX.Element {
  return (
    <td data-head="Side" class={row.side === 'buy' ? 'bid' : 'ask'}>
      {row.sideWords}
    </td>
  )
}

/** Opens the order's life: what became of it, and why. */
function Explain(props: {
  readonly id: string
  readonly children: ComponentChildren
}): JSX.Element {
  const { terminal } = usePage()
  return (
    <button
      type="button"
      class="link"
      tabIndex={-1}
      title="What became of it, and why"
      onClick={() => (terminal.dialog.value = { name: 'explain', orderId: props.id })}
    >
      {props.children}
    </button>
  )
}

const VARIATION = 'Variation, cNGN'

function Fills(): JSX.Element {
  const { terminal, views } = usePage()
  const rows = views.fills.value
  // Futures alone have it.
  const hasVariation = rows.some(({ variation }) => variation !== undefined)
  const heads = [
    ...['Time', 'Market', 'Side', 'Price', 'Size', 'Fee, USDC'],
    ...(hasVariation ? [VARIATION] : []),
    ...['As', 'Settled in'],
  ]
  const { isUtc } = terminal.prefs.prefs.value
  return (
    <Table caption="Fills" heads={heads} isEmpty={rows.length === 0} empty="No fills yet.">
      {rows.map((row) => (
        <tr key={row.key} class={row.state}>
          <td data-head="Time" title={wholeTime(row.at)}>
            {momentOf(row.at, isUtc)}
          </td>
          <Market name={row.market} />
          <Side row={row} />
          <td data-head="Price">{row.price}</td>
          <td data-head="Size">
            {row.size} {row.sizeUnit}
          </td>
          <td data-head="Fee, USDC">{row.fee}</td>
          {hasVariation && <td data-head={VARIATION}>{row.variation ?? '–'}</td>}
          <td data-head="As">{row.liquidity}</td>
          <td data-head="Settled in" class="hash" title={row.hash}>
            <Explain id={row.orderId}>{row.hash?.slice(0, 10) ?? 'settling …'}</Explain>
          </td>
        </tr>
      ))}
    </Table>
  )
}

function History(): JSX.Element {
  const { terminal, views } = usePage()
  const own = terminal.own.value
  const rows = views.ended.value
  const heads = ['Ended', 'Market', 'Side', 'Price', 'Size', 'Filled', 'How it ended']
  const { isUtc } = terminal.prefs.prefs.value
  return (
    <>
      <Table
        caption="Ended orders"
        heads={heads}
        isEmpty={rows.length === 0}
        empty="No ended orders."
      >
        {rows.map((row) => (
          <tr key={row.id}>
            <td data-head="Ended" title={wholeTime(row.record.updated_at)}>
              {momentOf(row.record.updated_at, isUtc)}
            </td>
            <Market name={row.market} />
            <Side row={row} />
            <td data-head="Price">{row.price}</td>
            <td data-head="Size">
              {row.size} {row.sizeUnit}
            </td>
            <td data-head="Filled">{row.settled}</td>
            <td data-head="How it ended" class="reason">
              <Explain id={row.id}>{row.stateWords}</Explain> {row.why}
            </td>
          </tr>
        ))}
      </Table>
      {own?.hasOlder.value === true && (
        <button type="button" class="more" onClick={() => void own.readOlder()}>
          Older orders
        </button>
      )}
    </>
  )
}
