import type { MarginAccount, PositionRecord } from '../../interface/position.js'
import { formatDecimal } from '../decimal.js'
import type { PositionFacts } from '../model/observation.js'
import { E18 } from '../money.js'
import type { HeldAccount, HeldRecords } from './contract.js'
import { uiPrice } from './perpetual-entry.js'
import { perpetualOf, type PerpetualFacts } from './perpetual-facts.js'
import { outlookRecord } from './liquidation-outlook.js'
import { creditOf, liquidationPrice, perpetualOutlook, sizeOf } from './perpetual-margin.js'
import { entryPrice, gainSinceEntry } from './positions.js'
import { UI_PRICE_DECIMALS } from './translation.js'

/** What an account holds in a perpetual market at one block, signed at 1e18. What the chain cannot price is absent. */
export interface PerpetualPosition {
  readonly position: bigint
  /** Stored balance of the cash asset. */
  readonly cash: bigint
  /** Balance of the collateral asset. */
  readonly collateral: bigint
  /** Profit and funding that are not settled into cash. */
  readonly unsettled?: bigint
  /** `getMargin` of the manager: over initial margin, over maintenance margin. */
  readonly initialSurplus?: bigint
  readonly maintenanceSurplus?: bigint
}

/** Hides the facts of an account from everything outside the records of its contract, and the inverse. */
export const hidePosition = (own: PerpetualPosition): PositionFacts => own as PositionFacts
const perpetualPositionOf = (own: PositionFacts): PerpetualPosition => own as PerpetualPosition

const E30 = 10n ** 30n

const e18 = (value: bigint): string => formatDecimal(value, 18)
const e18OrEmpty = (value: bigint | undefined): string => (value === undefined ? '' : e18(value))

/** The account in the market as `GET /v1/positions` shows it (PER-043 to PER-047). */
export function perpetualPositions(held: HeldAccount): HeldRecords {
  const facts = perpetualOf(held.observed.facts)
  const own = perpetualPositionOf(held.facts)
  const shared = {
    market: held.market.market,
    subaccount_id: held.subaccountId.toString(),
  }
  const surpluses = {
    initial_margin_surplus: e18OrEmpty(own.initialSurplus),
    maintenance_margin_surplus: e18OrEmpty(own.maintenanceSurplus),
  }
  const account: MarginAccount = {
    ...shared,
    cash: e18(own.cash),
    ...surpluses,
    collateral: collateralOf(held, facts, own.collateral),
  }
  if (own.position === 0n) return { account }
  const position: PositionRecord = {
    ...shared,
    ...sizeFields(facts, own.position),
    unrealized_pnl: e18OrEmpty(own.unsettled),
    ...surpluses,
    ...outlookRecord(perpetualOutlook(facts, own)),
    ...liquidationFields(facts, own),
    ...entryFields(held, facts, own),
  }
  return { position, account }
}

/** The notional is at the index, rounded down to 6 decimals. */
function sizeFields(facts: PerpetualFacts, position: bigint) {
  const { mark, index, pricesStale } = facts
  const size = sizeOf(position)
  return {
    ui_side: position > 0n ? ('long' as const) : ('short' as const),
    engine_position: e18(position),
    ui_size: e18(size),
    ui_notional_usdc: index > 0n ? formatDecimal((size * index) / E30, 6) : '',
    mark_price_ui: uiPrice(mark),
    index_price_ui: uiPrice(index),
    price_status: pricesStale ? ('stale' as const) : ('ok' as const),
  }
}

function liquidationFields(facts: PerpetualFacts, own: PerpetualPosition) {
  const { position, maintenanceSurplus: surplus } = own
  if (surplus === undefined || facts.mark === 0n) return {}
  const price = liquidationPrice(facts, { position, surplus })
  if (price === undefined) return {}
  return { liquidation_price_ui: formatDecimal(price, UI_PRICE_DECIMALS) }
}

/** From the venue's own fills, when they add up to what the chain shows. */
function entryFields(
  { entry }: HeldAccount,
  { mark }: PerpetualFacts,
  { position }: PerpetualPosition,
) {
  if (entry?.size !== position) return {}
  const price = entryPrice(entry)
  const gain = gainSinceEntry(entry, mark)
  if (price === undefined || gain === undefined) return {}
  return { entry_price: e18(price), ...(mark > 0n && { pnl_since_entry: e18(gain) }) }
}

/** Values at the index, rounded down; the manager credits no more. */
function collateralOf(
  { market }: HeldAccount,
  facts: PerpetualFacts,
  balance: bigint,
): MarginAccount['collateral'] {
  if (facts.collateral === undefined) return []
  const isPriced = facts.index > 0n
  return [
    {
      symbol: market.presentation.baseAssetSymbol,
      asset_address: facts.collateral.asset,
      balance: e18(balance),
      value_usd: isPriced ? e18((balance * facts.index) / E18) : '',
      margin_value_usd: isPriced ? e18(creditOf(facts, balance, 'maintenance')) : '',
    },
  ]
}
