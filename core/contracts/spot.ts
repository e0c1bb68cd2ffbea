import { refusals } from '../entry/refusals.js'
import { balanceMeans, balanceWire, type BalanceTypes } from './balances.js'
import { sealTrading, type Contract, type RefusalReason } from './contract.js'
import type { FaultOf, VenueFaults } from './faults.js'
import { feePerUnitFloor, notionalFeeFloor, notionalFloor } from './fees.js'
import { spotFunds } from './spot-funds.js'

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

/** Base and quote change hands between two subaccounts; the taker pays a fee in quote (interface 2.2). */
export const spot: Contract = Object.freeze({
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
  present: { marketEntry: () => ({}), hasTicker: true, funds: spotFunds },
})
