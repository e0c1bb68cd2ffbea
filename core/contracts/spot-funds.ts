import { notionalFloor } from './fees.js'
import type { HeldFunds, MatchClaim, OpenClaim, ShownFunds } from './funds.js'

/** Base and quote of an account, and what of them its orders and matches take: a sell base, a buy quote. */
export function spotFunds({ market, claims: { orders, matches } }: HeldFunds): ShownFunds {
  const { assetAddress, quoteAssetAddress, orderEntry, presentation } = market
  const { baseAssetSymbol, quoteAssetSymbol } = presentation
  const isInverted = orderEntry?.orientation === 'inverted'
  const [base, quote] = isInverted
    ? [quoteAssetSymbol, baseAssetSymbol]
    : [baseAssetSymbol, quoteAssetSymbol]
  return {
    tokens: [
      {
        ...{ asset: assetAddress, token: base },
        byOrders: sum(orders, baseOf),
        byMatches: sum(matches, baseOf),
      },
      {
        ...{ asset: quoteAssetAddress, token: quote },
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
