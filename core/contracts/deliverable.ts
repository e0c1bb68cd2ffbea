import { refusals } from '../entry/refusals.js'
import { balanceMeans, balanceWire, type BalanceTypes } from './balances.js'
import { sealTrading, type Contract } from './contract.js'
import { feePerUnitFloor, notionalFeeFloor, notionalFloor } from './fees.js'
import { expirySecOf } from './future-entry.js'
import { spot } from './spot.js'
import { movesOfUsdc } from './trade-moves.js'

/**
 * A dated contract settled by delivery (REA-010). Its markets load, and are listed when they are enabled; new
 * orders are refused.
 */
export const deliverable: Contract = Object.freeze<Contract>({
  type: 'deliverable_fx_future',
  settlementType: 'physical_delivery',
  trading: sealTrading<BalanceTypes>({
    quoteOf: (_, price, amount) => notionalFloor(price, amount),
    quoteSymbol: ({ presentation }) => presentation.quoteAssetSymbol,
    takerFee: ({ takerFeeBps }, price, amount) => notionalFeeFloor(price, amount, takerFeeBps),
    feePerUnit: feePerUnitFloor,
    restChecks: [() => refusals.marketDisabled],
    means: balanceMeans,
    wire: balanceWire,
    cancelReason: spot.trading.cancelReason,
  }),
  present: {
    marketEntry: (market) => ({
      expiry_timestamp: expirySecOf(market),
      accepts_orders: false as const,
    }),
    uiDecimals: { price: 4, size: 0 },
    movesOf: movesOfUsdc,
    hasTicker: false,
    chartType: 'futures',
    expirySec: expirySecOf,
  },
})
