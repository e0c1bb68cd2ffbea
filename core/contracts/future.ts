import type { MarketReason } from '../../interface/reasons.js'
import { exactNumber } from '../decimal.js'
import {
  beyondFutureMargin,
  futureRefusals,
  indexStale,
  marketRefusals,
  outsideFillBand,
} from '../entry/market-refusals.js'
import type { Refusal } from '../entry/refusals.js'
import type { MarketHold } from '../model/hold.js'
import {
  amountE18,
  E18,
  feePerUnitE18,
  mulDivFloor,
  quoteE18,
  type AmountE18,
  type FeePerUnitE18,
  type QuoteE18,
} from '../money.js'
import {
  sealTrading,
  type ObservedOrder,
  type Contract,
  type ContractTerms,
  type PriceRange,
  type RefusalReason,
} from './contract.js'
import type { Market } from '../model/market.js'
import type { MarketObservation } from '../model/observation.js'
import type { FaultOf, VenueFaults } from './faults.js'
import {
  expirySecOf,
  futureEntry,
  futureFill,
  futurePrices,
  lastTradeSecOf,
} from './future-entry.js'
import {
  futureAccountCodec,
  futureFactsCodec,
  type FutureAccountFacts,
  type FutureFacts,
} from './future-facts.js'
import { futureFunds, futureMarginAfter } from './future-funds.js'
import { CONTRACT_MULTIPLIER, futureModel, judgingPrice, POSITION_STEP } from './future-margin.js'
import { fillBand, FIXING_SEC, isInBand } from './future-prices.js'
import { legOf, marginSnapshot, type MarginTypes } from './margin-risk.js'
import { fitsCash, fitsMargin, isReduction, marginMeans, NO_FLIGHT } from './margin.js'
import { sizeOf } from './perpetual-margin.js'
import { endOfReduceOnly, pairPositions, refuseReduceOnly } from './positions.js'
import { movesOfUsdc } from './trade-moves.js'

type FutureTypes = MarginTypes<FutureAccountFacts, FutureFacts>
type FutureObservation = MarketObservation<FutureFacts> | undefined

/** Nothing crosses on facts whose read began longer ago (FUT-021). */
export const BAND_AGE_MAX_MS = 2_000
/** A match is judged with the band as it will be then, so that narrowing before inclusion refuses none (FUT-015). */
const INCLUSION_SEC = 60

/** The taker's fee in USDC: contracts × 1,000 × bps, rounded down; at any price (FUT-008). */
const takerFee = ({ takerFeeBps }: ContractTerms, amount: AmountE18): QuoteE18 =>
  quoteE18(mulDivFloor(amount, BigInt(takerFeeBps), 10_000n))

/** Per contract, as the module compares it with the signed bound. */
const feePerContract = (fee: QuoteE18, amount: AmountE18): FeePerUnitE18 =>
  feePerUnitE18(mulDivFloor(fee, E18, amount / CONTRACT_MULTIPLIER))

/** The hold of a series at its facts, the most lasting reason first. */
function holdOf(
  observed: FutureObservation,
  nowMs: number,
  spareMs = 0,
): MarketHold<MarketReason> | undefined {
  if (observed === undefined) return { reason: 'market_unread' }
  const { facts, readAtMs } = observed
  if (nowMs >= (facts.expirySec - FIXING_SEC) * 1000) return { reason: 'trading_ended' }
  if (nowMs - readAtMs > BAND_AGE_MAX_MS + spareMs) return { reason: 'band_stale' }
  if (facts.paused) return { reason: 'trading_paused' }
  if (!facts.moduleAllowed || facts.positionCap === 0n) return { reason: 'trading_disabled' }
  return facts.indexStale ? { reason: 'index_stale' } : undefined
}

function fillRange(observed: FutureObservation, nowMs: number): PriceRange | undefined {
  if (observed === undefined) return undefined
  const { index, expirySec } = observed.facts
  return fillBand(index, expirySec, Math.ceil(nowMs / 1000) + INCLUSION_SEC)
}

/** The chain counts contracts, the engine USDC. */
const capOf = (observed: FutureObservation) =>
  observed && {
    total: observed.facts.totalPosition * CONTRACT_MULTIPLIER,
    cap: observed.facts.positionCap * CONTRACT_MULTIPLIER,
  }

const REASONS: ReadonlyMap<string, RefusalReason> = new Map([
  ['SRM_PortfolioBelowMargin', 'insufficient_margin'],
  ['WERC_CannotBeNegative', 'insufficient_balance'],
  ['OV_InvalidSignature', 'signature_revoked'],
  ['OV_SignerNotOwnerOrSessionKeyExpired', 'signature_revoked'],
  ['TM_FeeTooHigh', 'fee_bound_too_low'],
])

/** The series and its index come before any account, so that the managers of the accounts do not matter. */
const FAULTS: VenueFaults = new Map<string, FaultOf>([
  ['FT_IndexStale', 'deployment'],
  ['FT_OutsideFillBand', 'price'],
  ['FT_TradingEnded', 'deployment'],
  ['FA_AlreadySettled', 'deployment'],
  ['FA_UnknownSeries', 'deployment'],
  ['FM_OnlyTradeModule', 'deployment'],
  ['SRM_UnsupportedAsset', 'manager'],
])

type FuturePlacement = ObservedOrder<FutureTypes>

/** Pause, last trade time and band, in this order (FUT-018). */
function refuseByMarket({ market, order, observed }: FuturePlacement): Refusal | undefined {
  if (observed === undefined) return futureRefusals.bandUnreadable
  const { facts, readAtMs, blockTimeSec } = observed
  if (facts.paused) return marketRefusals.tradingPaused
  const atSec = Math.max(Math.floor(readAtMs / 1000), blockTimeSec)
  if (atSec >= lastTradeSecOf(market)) return futureRefusals.tradingEnded
  const { index } = facts
  const band = fillBand(index, facts.expirySec, atSec)
  if (facts.indexStale) return indexStale({ index, ...band })
  return isInBand(band, order.limitPrice) ? undefined : outsideFillBand({ index, ...band })
}

/**
 * The order by itself: all of it that may be filled, at its own limit, as the taker. One that can only shrink the position
 * needs its fee alone: at which price it is filled, and with what margin left, is judged before each match.
 */
function refuseMargin({ market, order, account, observed }: FuturePlacement): Refusal | undefined {
  if (account === undefined || observed === undefined) return marketRefusals.marginUnreadable
  const { side, limitPrice, desiredAmount, initialFilled } = order
  const position = futureModel.positionOf(account.facts)
  const whole = amountE18(desiredAmount - initialFilled)
  const isClamped = order.reduceOnly === true && sizeOf(position) < whole
  const amount = isClamped ? amountE18(sizeOf(position)) : whole
  const leg = legOf(side, limitPrice, amount, takerFee(market, amount))
  const standing = futureModel.standing(account.facts, observed.facts)
  if (standing === undefined) return marketRefusals.marginUnreadable
  const bearing = { position, standing, own: NO_FLIGHT, opposite: NO_FLIGHT }
  if (isReduction(position, leg.size)) {
    const isPaid = fitsCash(futureModel, observed.facts, bearing, leg)
    return isPaid ? undefined : marketRefusals.insufficientMargin
  }
  if (fitsMargin(futureModel, observed.facts, bearing, leg)) return undefined
  const { mark, index } = observed.facts
  const by = judgingPrice(account.facts, observed.facts, leg)
  return beyondFutureMargin({ by, mark, index })
}

const positionOf = (facts: FutureAccountFacts | undefined): bigint | undefined =>
  facts === undefined ? undefined : futureModel.positionOf(facts)

/** A dated position, margined in USDC and cNGN and settled in cNGN; fees in USDC. */
export const future: Contract = Object.freeze<Contract>({
  type: 'future',
  settlementType: 'cash_settled_future',
  problemOf: seriesProblem,
  signedStep: POSITION_STEP,
  trading: sealTrading<FutureTypes>({
    // Sizes are USDC (FUT-007).
    quoteOf: (_, __, amount) => quoteE18(amount),
    quoteSymbol: ({ presentation }) => presentation.baseAssetSymbol,
    takerFee: (terms, _, amount) => takerFee(terms, amount),
    feePerUnit: feePerContract,
    restChecks: [],
    admission: [
      refuseByMarket,
      ({ order, account }) => refuseReduceOnly(order, positionOf(account?.facts)),
      refuseMargin,
    ],
    countsShortMargin: true,
    means: { ...marginMeans(futureModel), endOf: (_, order) => endOfReduceOnly(order) },
    holdOf,
    fillRange,
    lastTradeSec: lastTradeSecOf,
    pair: (pair, observed) => pairPositions(pair, capOf(observed)),
    cancelReason: (revert) => REASONS.get(revert) ?? 'settlement_refused',
    faults: FAULTS,
    wire: {
      accountFacts: futureAccountCodec,
      marketFacts: futureFactsCodec,
      riskAccount: marginSnapshot,
    },
  }),
  present: {
    marketEntry: futureEntry,
    uiDecimals: { price: 4, size: 0 },
    movesOf: movesOfUsdc,
    marginAfter: futureMarginAfter,
    hasTicker: false,
    chartType: 'futures',
    // The chain counts the positions of all series together.
    listedContract: { productType: 'Futures', contractType: 'Vanilla' },
    expirySec: expirySecOf,
    fill: futureFill,
    funds: futureFunds,
    prices: futurePrices,
  },
})

const MONTHS = ['JAN', 'FEB', 'MAR', 'APR', 'MAY', 'JUN', 'JUL', 'AUG', 'SEP', 'OCT', 'NOV', 'DEC']
/** 2000-01-01 and 2100-01-01: identifiers give two digits of the year. */
const FIRST_SEC = 946_684_800n
const END_SEC = 4_102_444_800n

/** The UTC date of an expiry in unix seconds as identifiers spell it: `30NOV26`; undefined outside this century. */
export function dateCodeOf(expirySec: bigint): string | undefined {
  if (expirySec < FIRST_SEC || expirySec >= END_SEC) return undefined
  const date = new Date(exactNumber(expirySec) * 1_000)
  const two = (value: number): string => `${value}`.padStart(2, '0')
  return `${two(date.getUTCDate())}${MONTHS[date.getUTCMonth()]}${two(date.getUTCFullYear() % 100)}`
}

/** Whether a market is a series of cash-settled dated futures: the kind that a calendar names. */
export const isSeries = ({ contractType }: Pick<Market, 'contractType'>): boolean =>
  contractType === future.type

/** Why an identifier does not name this series (FUT-001); undefined when it spells the date of its expiry. */
export function seriesProblem(row: { readonly market: string; readonly subId: bigint }) {
  const { market, subId } = row
  const code = dateCodeOf(subId)
  if (code === undefined) return `${market} has the sub_id ${subId}, which is not an expiry`
  if (market.endsWith(`-${code}`)) return undefined
  return `${market} has the sub_id ${subId}, so its identifier must end with -${code}`
}
