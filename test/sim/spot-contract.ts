import type { Address } from '../../core/action.js'
import {
  addBalance,
  AT,
  balanceOf,
  FEE_ACCOUNT,
  requireUnpaused,
  Revert,
  type ChainState,
  type MatchLegs,
} from './chain-state.js'
import { checkTradingAccounts } from './futures-manager.js'

const E18 = 10n ** 18n

interface Transfer {
  readonly from: bigint
  readonly to: bigint
  readonly asset: Address
  readonly amount: bigint
}

/** A spot match: base from the seller, quote from the buyer, fees of both; then the manager looks at who has paid. */
export function settleSpot(state: ChainState, { taker, takerIsBid, takerFee, fills }: MatchLegs) {
  const fee = (from: bigint, amount: bigint) => ({
    from,
    to: FEE_ACCOUNT,
    asset: AT.usdc,
    amount,
  })
  const transfers = fills.flatMap(({ maker, amount, price, ...fill }): Transfer[] => {
    const [buyer, seller] = takerIsBid ? [taker, maker] : [maker, taker]
    const quote = (price * amount) / E18
    return [
      { from: seller, to: buyer, asset: AT.cngn, amount },
      { from: buyer, to: seller, asset: AT.usdc, amount: quote },
      fee(maker, fill.fee),
    ]
  })
  for (const transfer of [...transfers, fee(taker, takerFee)]) move(state, transfer)
  requireUnpaused(state, AT.manager)
  const accounts = [taker, ...fills.map(({ maker }) => maker)]
  checkTradingAccounts(state, new Map(accounts.map((account) => [account, { addsRisk: true }])))
}

/** Moves an asset that no account can owe. */
export function move(state: ChainState, { from, to, asset, amount }: Transfer): void {
  if (from === to) throw new Revert('AC_CannotTransferAssetToOneself')
  if (balanceOf(state, from, asset) < amount) throw new Revert('WERC_CannotBeNegative')
  addBalance(state, from, asset, -amount)
  addBalance(state, to, asset, amount)
}
