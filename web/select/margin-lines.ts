import type { MarketEntry } from '../../client/index.js'
import type { OrderVerdict } from '../../interface/validation.js'
import { formatE18 } from './format.js'
import { readSigned } from './numbers.js'
import type { ReceiptLine } from './receipt-lines.js'

const MONEY_DECIMALS = 2

/** Position, margin and liquidation before and after, as the venue foretells them; empty where it does not. */
export function marginLines(
  entry: MarketEntry,
  verdict: OrderVerdict | undefined,
): readonly ReceiptLine[] {
  const outcome = verdict?.outcome
  if (outcome === undefined) return []
  const lines: ReceiptLine[] = []
  const add = (name: string, before: string | undefined, after: string | undefined): void => {
    if (before !== undefined || after !== undefined)
      lines.push({ name, value: `${before ?? 'none'} → ${after ?? 'none'}` })
  }
  const text = (value: string | undefined, decimals: number): string | undefined => {
    const read = readSigned(value)
    return read === undefined ? undefined : formatE18(read, decimals, 'down')
  }
  const { margin, cancelled } = outcome
  if (margin !== undefined) {
    const { before, after } = margin
    const size = entry.ui_size_decimals
    const price = entry.ui_price_decimals
    add(
      `Position, ${entry.base_asset_symbol}`,
      text(before.position, size),
      text(after.position, size),
    )
    add(
      'Above initial margin, USDC',
      text(before.initial_margin_surplus, MONEY_DECIMALS),
      text(after.initial_margin_surplus, MONEY_DECIMALS),
    )
    add(
      `Liquidation, ${entry.ui_price_unit}`,
      text(before.liquidation_price_ui, price),
      text(after.liquidation_price_ui, price),
    )
  }
  for (const { order_id: id, cancel_reason: why } of cancelled)
    lines.push({ name: 'Would be cancelled', value: `${id}: ${why}` })
  return lines
}
