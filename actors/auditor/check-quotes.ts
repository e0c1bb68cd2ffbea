import { callsAtNumber } from '../../chain/contracts/observe-account.js'
import { chainContractOf } from '../../chain/contracts/registry.js'
import type { Market } from '../../core/model/market.js'
import type { Match } from '../../core/model/match.js'
import type { ClaimedFill, WantedFill } from '../../data/audit-scratch.js'
import type { ChainChecks } from './chain-checks.js'

type PricedMatch = Pick<Match, 'settlementId' | 'price' | 'amount'>

/** A match with the fill that it has claimed. */
export interface ClaimedMatch {
  readonly match: PricedMatch
  readonly wanted: WantedFill
  readonly fill: ClaimedFill
}

/** Compares the quotes that the trade module states with those of the matches, where they follow from prices too. */
export interface QuoteCheck {
  add(claimed: ClaimedMatch): void
  /** Checks what was added since the last call. */
  check(): Promise<void>
  /** How many could not be checked, because the node has no state of their blocks. */
  unread(): number
}

const NOTHING: QuoteCheck = {
  add: () => undefined,
  check: () => Promise.resolve(),
  unread: () => 0,
}

export function createQuoteCheck(
  { client, verdicts }: Pick<ChainChecks, 'client' | 'verdicts'>,
  market: Market,
): QuoteCheck {
  const stated = chainContractOf(market)?.statedQuote
  if (stated === undefined) return NOTHING
  let waiting: ClaimedMatch[] = []
  let unread = 0

  /** The price may have changed in the block of the fill, before it or after it. */
  async function quotesOf({ match, fill }: ClaimedMatch) {
    const of = { price: match.price, amountFilled: match.amount }
    const at = (number: bigint) =>
      stated?.(market, of, callsAtNumber(client, number)).catch(() => undefined)
    const quotes = await Promise.all([at(fill.blockNumber), at(fill.blockNumber - 1n)])
    return quotes.filter((quote) => quote !== undefined)
  }

  return {
    add: (claimed) => void waiting.push(claimed),
    unread: () => unread,
    async check() {
      const now = pairedByPrice(waiting)
      waiting = []
      const quotes = await Promise.all(now.map(quotesOf))
      for (const [index, { match, fill }] of now.entries()) {
        const known = quotes[index] ?? []
        if (known.length === 0) unread += 1
        else if (!known.includes(fill.quote)) {
          const what = `the chain moved ${fill.quote} of quote in ${fill.txHash}`
          const own = `its price says ${known.join(' or ')}`
          verdicts.find(market.market, 'settlements', `${match.settlementId}: ${what}, ${own}`)
        }
      }
    },
  }
}

/**
 * Gives the matches whose fills are equal but for their quotes, in one transaction, these fills in the order of their prices:
 * they were claimed in any order, and of one amount in one block the higher price moves the higher quote.
 */
export function pairedByPrice(claimed: readonly ClaimedMatch[]): ClaimedMatch[] {
  const groups = new Map<string, ClaimedMatch[]>()
  for (const one of claimed) {
    const { taker, maker, takerIsBid, amount } = one.wanted
    const key = [one.fill.txHash, taker, maker, takerIsBid, amount].join(' ')
    const group = groups.get(key)
    if (group === undefined) groups.set(key, [one])
    else group.push(one)
  }
  return [...groups.values()].flatMap((group) => {
    const fills = group.map(({ fill }) => fill).toSorted((a, b) => order(a.quote, b.quote))
    const matches = group.toSorted((a, b) => order(a.match.price, b.match.price))
    return matches.map((one, index) => ({ ...one, fill: fills[index] ?? one.fill }))
  })
}

const order = (a: bigint, b: bigint): number => (a < b ? -1 : a > b ? 1 : 0)
