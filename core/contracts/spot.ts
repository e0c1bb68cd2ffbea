import { refusals } from '../entry/refusals.js'
import { balanceMeans, balanceWire, type BalanceTypes } from './balances.js'
import { sealTrading, type Contract, type RefusalReason } from './contract.js'
import type { FaultOf, VenueFaults } from './faults.js'
import { feePerUnitFloor, notionalFeeFloor, notionalFloor } from './fees.js'
import type { HeldFunds, MatchClaim, OpenClaim, ShownFunds } from './funds.js'
import { movesOfBase } from './trade-moves.js'

const REASONS: ReadonlyMap<string, RefusalReason> = new Map([
  ['SRM_PortfolioBelowMargin', 'insufficient_margin'],
  ['SRM_NoNegativeCash', 'insufficient_balance'],
  ['WERC_CannotBeNegative', 'insufficient_balance'],
  ['OV_InvalidSignature', 'signature_revoked'],
  ['OV_SignerNotOwnerOrSessionKeyExpired', 'signature_revoked'],
  ['TM_FeeTooHigh', 'fee_bound_too_low'],
])

/** Only an account with a position or a debt in futures depends on an index: a stale one holds such orders alone. */
const FAULTS: VenueFaults = new Map<string, FaultOf>([['BLF_DataTooOld', 'holdings']])

/** Base and quote change hands between two subaccounts; the taker pays a fee in quote. */
export const spot: Contract = Object.freeze<Contract>({
  type: 'spot',
  settlementType: 'spot',
  trading: sealTrading<BalanceTypes>({
    quoteOf: (_, price, amount) => notionalFloor(price, amount),
    // An inverted market presents the engine's quote as its base.
    quoteSymbol: ({ presentation, orderEntry }) =>
      orderEntry?.orientation === 'inverted'
        ? presentation.baseAssetSymbol
        : presentation.quoteAssetSymbol,
    takerFee: ({ takerFeeBps }, price, amount) => notionalFeeFloor(price, amount, takerFeeBps),
    feePerUnit: feePerUnitFloor,
    restChecks: [(_, { reduceOnly }) => (reduceOnly ? refusals.reduceOnlyUnsupported : undefined)],
    means: balanceMeans,
    wire: balanceWire,
    // Reverts that say nothing about the trader's own means are a plain `settlement_refused`.
    cancelReason: (revert) => REASONS.get(revert) ?? 'settlement_refused',
    faults: FAULTS,
  }),
  present: {
    marketEntry: () => ({}),
    uiDecimals: { price: 4, size: 2 },
    movesOf: movesOfBase,
    hasTicker: true,
    chartType: 'crypto',
    funds: spotFunds,
  },
})

/** Base and quote of an account, and what of them its orders and matches take: a sell base, a buy quote. */
function spotFunds({ market, claims: { orders, matches } }: HeldFunds): ShownFunds {
  const { assetAddress, quoteAssetAddress, orderEntry, presentation } = market
  const { baseAssetSymbol, quoteAssetSymbol } = presentation
  const isInverted = orderEntry?.orientation === 'inverted'
  const [base, quote] = isInverted
    ? [quoteAssetSymbol, baseAssetSymbol]
    : [baseAssetSymbol, quoteAssetSymbol]
  return {
    tokens: [
      {
        asset: assetAddress,
        token: base,
        byOrders: sum(orders, baseOf),
        byMatches: sum(matches, baseOf),
      },
      {
        asset: quoteAssetAddress,
        token: quote,
        byOrders: sum(orders, quoteOf),
        byMatches: sum(matches, (match) =>
          match.side === 'buy' ? quoteOf(match) + match.fee : 0n,
        ),
      },
    ],
  }
}

const baseOf = ({ side, amount }: OpenClaim): bigint => (side === 'sell' ? amount : 0n)

/** As the chain takes it, rounded down; the fee of a selling taker comes out of what it receives. */
const quoteOf = ({ side, price, amount }: OpenClaim): bigint =>
  side === 'buy' ? notionalFloor(price, amount) : 0n

const sum = <Claim extends OpenClaim | MatchClaim>(
  claims: readonly Claim[],
  of: (claim: Claim) => bigint,
): bigint => claims.reduce((total, claim) => total + of(claim), 0n)
