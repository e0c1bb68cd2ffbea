import type { Market } from '../core/market.js'
import { quoteE18, takerFeeFloor } from '../core/money.js'
import { decodeTradeData } from '../core/trade-data.js'
import type { ExecutePayload } from './execute-payload.js'

/** What is wrong with a payload, and where. */
export interface Objection {
  readonly field: string
  readonly message: string
}

/** Market, instrument, price and fees of a payload, held against the venue's own rules; empty when they agree. */
export type CheckTerms = (payload: ExecutePayload) => readonly Objection[]

/**
 * Nothing on chain enforces the maker's price or the fee schedule, only the signed limits: whoever can ask for a
 * settlement may still not choose its terms. `markets` are those that are settled here.
 */
export function createTermsCheck(markets: readonly Market[]): CheckTerms {
  const byName = new Map(markets.map((market) => [market.market, market]))
  return (payload) => {
    const market = byName.get(payload.market)
    if (market === undefined) return [{ field: 'market', message: 'is not settled here' }]
    const first =
      wrongInstrument(payload, market) ?? wrongPrice(payload) ?? wrongFee(payload, market)
    return first === undefined ? [] : [first]
  }
}

function wrongInstrument(payload: ExecutePayload, market: Market): Objection | undefined {
  if (payload.assetAddress !== market.assetAddress) {
    return { field: 'asset_address', message: `must be the market's ${market.assetAddress}` }
  }
  if (payload.moduleAddress !== market.tradeModuleAddress) {
    return { field: 'module_address', message: `must be the market's ${market.tradeModuleAddress}` }
  }
  const at = payload.match.actions.findIndex(({ data }) => tradeOf(data)?.subId !== market.subId)
  if (at === -1) return undefined
  return { field: `actions.${at}.data`, message: `must name sub id ${market.subId}` }
}

/** Each fill is made at the limit that its maker signed. */
function wrongPrice({ match }: ExecutePayload): Objection | undefined {
  for (const [i, { price }] of match.orderData.fillDetails.entries()) {
    const limit = tradeOf(match.actions[i + 1]?.data ?? '0x')?.limitPrice
    if (price === limit) continue
    const field = `order_data.fill_details.${i}.price`
    return { field, message: `must be the maker's signed limit price ${limit}` }
  }
  return undefined
}

/** Fees follow the schedule, rounded down for each fill; the taker's is the sum over its fills. */
function wrongFee({ match }: ExecutePayload, market: Market): Objection | undefined {
  let takerFee = quoteE18(0n)
  for (const [i, { price, amountFilled, fee }] of match.orderData.fillDetails.entries()) {
    const makerFee = takerFeeFloor(price, amountFilled, market.makerFeeBps)
    if (fee !== makerFee) {
      return { field: `order_data.fill_details.${i}.fee`, message: `must be ${makerFee}` }
    }
    takerFee = quoteE18(takerFee + takerFeeFloor(price, amountFilled, market.takerFeeBps))
  }
  if (match.orderData.takerFee === takerFee) return undefined
  return { field: 'order_data.taker_fee', message: `must be ${takerFee}` }
}

function tradeOf(data: string) {
  const decoded = decodeTradeData(data)
  return 'data' in decoded ? decoded.data : undefined
}
