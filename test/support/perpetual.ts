import {
  hidePerpetual,
  hidePerpetualAccount,
  type PerpetualAccount,
  type PerpetualFacts,
} from '../../core/contracts/perpetual-facts.js'
import type { AccountFacts, MarketFacts } from '../../core/model/observation.js'
import { amountE18, E18, priceE18 } from '../../core/money.js'

/** Decimal text at 1e18; a minus sign is allowed. */
export function e18(decimal: string): bigint {
  if (decimal.startsWith('-')) return -e18(decimal.slice(1))
  const [whole = '0', fraction = ''] = decimal.split('.')
  return BigInt(whole + fraction.padEnd(18, '0'))
}

/** A market that trades: mark and index at one, a tenth of initial margin, room for any position. */
export const perpetualFacts = (facts: Partial<PerpetualFacts> = {}): PerpetualFacts => ({
  moduleAllowed: true,
  paused: false,
  disabled: false,
  totalPosition: amountE18(0n),
  positionCap: amountE18(10n ** 30n),
  openInterest: amountE18(0n),
  mark: priceE18(E18),
  index: priceE18(E18),
  pricesStale: false,
  markConfidence: E18,
  indexConfidence: E18,
  stable: E18,
  fundingRate: 0n,
  initialRate: e18('0.1'),
  maintenanceRate: e18('0.065'),
  borrowing: false,
  contingency: {
    perpThreshold: 0n,
    baseThreshold: 0n,
    factor: 0n,
    depegThreshold: 0n,
    depegFactor: 0n,
  },
  ...facts,
})

/** An account with a million in cash and no position. */
export const perpetualAccount = (account: Partial<PerpetualAccount> = {}): PerpetualAccount => ({
  inAuction: false,
  position: 0n,
  cash: e18('1000000'),
  collateral: 0n,
  valued: { unsettled: 0n, mark: priceE18(E18), elsewhere: 0n },
  ...account,
})

const valueOf = (words: readonly string[], key: string): string | undefined =>
  words.includes(key) ? words[words.indexOf(key) + 1] : undefined

/** `mark 1 index 1 cap 100 total 10 im 0.1 [paused] [disabled] [stale] [borrowing]`: what is not said is as above. */
export function factsOfWords(words: readonly string[]): MarketFacts {
  const amount = (key: string, usual: bigint) => {
    const said = valueOf(words, key)
    return said === undefined ? usual : e18(said)
  }
  const usual = perpetualFacts()
  const mark = amount('mark', usual.mark)
  return hidePerpetual({
    ...usual,
    mark: priceE18(mark),
    index: priceE18(amount('index', mark)),
    positionCap: amountE18(amount('cap', usual.positionCap)),
    totalPosition: amountE18(amount('total', 0n)),
    initialRate: amount('im', usual.initialRate),
    paused: words.includes('paused'),
    disabled: words.includes('disabled'),
    pricesStale: words.includes('stale'),
    borrowing: words.includes('borrowing'),
  })
}

/** `position -5 cash 20 unsettled 1 at 1.1 [auction] [unpriced]`: what is not said is as above. */
export function accountOfWords(words: readonly string[]): AccountFacts {
  const usual = perpetualAccount()
  const amount = (key: string, other: bigint) => {
    const said = valueOf(words, key)
    return said === undefined ? other : e18(said)
  }
  const { valued, ...rest } = usual
  return hidePerpetualAccount({
    ...rest,
    position: amount('position', 0n),
    cash: amount('cash', usual.cash),
    inAuction: words.includes('auction'),
    ...(!words.includes('unpriced') && {
      valued: {
        unsettled: amount('unsettled', 0n),
        mark: priceE18(amount('at', valued?.mark ?? E18)),
        elsewhere: 0n,
      },
    }),
  })
}
