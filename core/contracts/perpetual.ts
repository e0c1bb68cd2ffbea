import type { MarketReason } from '../../interface/reasons.js'
import { marketRefusals } from '../entry/market-refusals.js'
import type { Refusal } from '../entry/refusals.js'
import type { MarketHold } from '../model/hold.js'
import type { MarketObservation } from '../model/observation.js'
import { amountE18 } from '../money.js'
import { sealTrading, type ObservedOrder, type Contract, type RefusalReason } from './contract.js'
import { feePerUnitFloor, notionalFeeFloor, notionalFloor } from './fees.js'
import { refuseIndexLag } from './index-lag.js'
import { fitsMargin, isReduction, marginMeans, NO_FLIGHT } from './margin.js'
import { legOf, marginSnapshot, type MarginTypes } from './margin-risk.js'
import {
  perpetualAccountCodec,
  perpetualFactsCodec,
  type PerpetualAccount,
  type PerpetualFacts,
} from './perpetual-facts.js'
import {
  isTradingEnabled,
  perpetualEntry,
  perpetualOpenInterest,
  perpetualPrices,
} from './perpetual-entry.js'
import { perpetualFunds, perpetualMarginAfter } from './perpetual-funds.js'
import { perpetualModel } from './perpetual-margin.js'
import { perpetualPositions } from './perpetual-position.js'
import { endOfReduceOnly, pairPositions, refuseReduceOnly } from './positions.js'
import { movesOfBase } from './trade-moves.js'

type PerpetualTypes = MarginTypes<PerpetualAccount, PerpetualFacts>

/** Nothing crosses on a head of the chain older than this, or on facts whose read began longer ago (PER-041). */
export const FACTS_AGE_MAX_MS = 10_000

/** The hold of a market at its facts, the most lasting reason first. */
function holdOf(
  observed: MarketObservation<PerpetualFacts> | undefined,
  nowMs: number,
  spareMs = 0,
): MarketHold<MarketReason> | undefined {
  if (observed === undefined) return { reason: 'market_unread' }
  const { facts, blockTimeSec, readAtMs } = observed
  const oldestMs = Math.min(blockTimeSec * 1000, readAtMs)
  if (nowMs - oldestMs > FACTS_AGE_MAX_MS + spareMs) return { reason: 'chain_stale' }
  if (facts.paused) return { reason: 'trading_paused' }
  if (!isTradingEnabled(facts)) return { reason: 'trading_disabled' }
  return facts.pricesStale ? { reason: 'prices_stale' } : undefined
}

const capOf = (observed: MarketObservation<PerpetualFacts> | undefined) =>
  observed && { total: observed.facts.totalPosition, cap: observed.facts.positionCap }

const REASONS: ReadonlyMap<string, RefusalReason> = new Map([
  ['SRM_PortfolioBelowMargin', 'insufficient_margin'],
  ['SRM_NoNegativeCash', 'insufficient_margin'],
  ['OV_InvalidSignature', 'signature_revoked'],
  ['OV_SignerNotOwnerOrSessionKeyExpired', 'signature_revoked'],
  ['TM_FeeTooHigh', 'fee_bound_too_low'],
])

type PerpetualPlacement = ObservedOrder<PerpetualTypes>

function refusePaused({ observed }: PerpetualPlacement): Refusal | undefined {
  if (observed === undefined) return marketRefusals.marketUnreadable
  return observed.facts.paused ? marketRefusals.tradingPaused : undefined
}

const refuseLag = ({ observed, indexLag }: PerpetualPlacement): Refusal | undefined =>
  observed && refuseIndexLag(indexLag, observed.facts.index)

/** The order by itself: all of it at its own limit, as the taker. */
function refuseMargin({
  market,
  order,
  account,
  observed,
}: PerpetualPlacement): Refusal | undefined {
  if (account === undefined || observed === undefined) return marketRefusals.marginUnreadable
  const { side, limitPrice, desiredAmount, initialFilled } = order
  const amount = amountE18(desiredAmount - initialFilled)
  const fee = notionalFeeFloor(limitPrice, amount, market.takerFeeBps)
  const leg = legOf(side, limitPrice, amount, fee)
  const { position, valued } = account.facts
  if (order.reduceOnly === true || isReduction(position, leg.size)) return undefined
  const standing = perpetualModel.standing(account.facts, observed.facts)
  if (standing === undefined || valued === undefined) return marketRefusals.marginUnreadable
  const bearing = { position, standing, own: NO_FLIGHT, opposite: NO_FLIGHT }
  return fitsMargin(perpetualModel, observed.facts, bearing, leg)
    ? undefined
    : marketRefusals.insufficientMargin
}

/** A position without expiry, margined and settled in cash; the taker pays a fee in cash. */
export const perpetual: Contract = Object.freeze<Contract>({
  type: 'perpetual',
  settlementType: 'cash_settled_perpetual',
  trading: sealTrading<PerpetualTypes>({
    quoteOf: (_, price, amount) => notionalFloor(price, amount),
    quoteSymbol: ({ presentation }) => presentation.quoteAssetSymbol,
    takerFee: ({ takerFeeBps }, price, amount) => notionalFeeFloor(price, amount, takerFeeBps),
    feePerUnit: feePerUnitFloor,
    restChecks: [],
    admission: [
      refusePaused,
      refuseLag,
      ({ order, account }) => refuseReduceOnly(order, account?.facts.position),
      refuseMargin,
    ],
    means: { ...marginMeans(perpetualModel), endOf: (_, order) => endOfReduceOnly(order) },
    holdOf,
    pair: (pair, observed) => pairPositions(pair, capOf(observed)),
    cancelReason: (revert) => REASONS.get(revert) ?? 'settlement_refused',
    wire: {
      accountFacts: perpetualAccountCodec,
      marketFacts: perpetualFactsCodec,
      riskAccount: marginSnapshot,
    },
  }),
  present: {
    marketEntry: perpetualEntry,
    uiDecimals: { price: 8, size: 0 },
    movesOf: movesOfBase,
    marginAfter: perpetualMarginAfter,
    hasTicker: false,
    chartType: 'swap',
    listedContract: {
      productType: 'Perpetual',
      contractType: 'Vanilla',
      openInterest: perpetualOpenInterest,
    },
    positions: perpetualPositions,
    funds: perpetualFunds,
    prices: perpetualPrices,
  },
})
