import type { MarketEntry, TradeDelta, TradeRecord } from '../client/index.js'
import { el, panel, table } from './dom.js'
import { shown, sideShown, time, type Units } from './units.js'

const SHOWN = 18

export interface TradesView {
  readonly section: HTMLElement
  reset(trades: readonly TradeRecord[]): void
  add(trade: TradeDelta): void
  show(units: Units): void
}

type Row = Pick<TradeRecord, 'trade_id' | 'price' | 'size' | 'aggressor_side' | 'created_at'> & {
  readonly tx_hash?: string
}

/** The newest trades, each with the transaction that settled it: a trade is shown once the chain has it. */
export function createTradesView(
  market: MarketEntry,
  transactionOf: (tradeId: number) => Promise<string | undefined>,
): TradesView {
  const { section, body } = panel('Trades', 'live')
  let rows: Row[] = []
  let units: Units = 'trader'
  const draw = (): void => {
    if (rows.length === 0)
      return body.replaceChildren(el('p', { class: 'quiet' }, 'No trades yet.'))
    const cells = rows.map((row) => {
      const { price, size } = shown(market, units, row.price, row.size)
      const isBuy = sideShown(market, units, row.aggressor_side) === 'buy'
      const hash = row.tx_hash ?? ''
      return [
        { text: price, class: isBuy ? 'bid' : 'ask' },
        ...[size, time(row.created_at)],
        el('span', { title: hash === '' ? 'being read' : `settled in ${hash}` }, hash.slice(0, 10)),
      ]
    })
    body.replaceChildren(table('Newest first', ['Price', 'Size', 'Time', 'Transaction'], cells))
  }
  const keep = (row: Row): void => {
    rows = [row, ...rows.filter(({ trade_id }) => trade_id !== row.trade_id)].slice(0, SHOWN)
    draw()
  }
  draw()
  return {
    section,
    reset(trades) {
      rows = trades.slice(0, SHOWN)
      draw()
    },
    add(trade) {
      keep(trade)
      void transactionOf(trade.trade_id).then((hash) => {
        if (hash === undefined) return
        rows = rows.map((row) =>
          row.trade_id === trade.trade_id ? { ...row, tx_hash: hash } : row,
        )
        draw()
      })
    },
    show(wanted) {
      units = wanted
      draw()
    },
  }
}
