import { callsAtNumber } from '../../chain/contracts/observe-account.js'
import { chainContractOf } from '../../chain/contracts/registry.js'
import type { Market } from '../../core/contracts/market.js'
import type { Match } from '../../core/engine/change.js'
import type { ClaimedFill } from '../../data/audit-scratch.js'
import type { ChainChecks } from './check-chain.js'

type Priced = Pick<Match, 'settlementId' | 'price' | 'amount'>

/** Compares the quotes that the trade module states with those of the matches, where they follow from prices too. */
export interface QuoteCheck {
  add(match: Priced, fill: ClaimedFill): void
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
  let waiting: { readonly match: Priced; readonly fill: ClaimedFill }[] = []
  let unread = 0

  /** The price may have changed in the block of the fill, before it or behind it. */
  async function quotesOf({ price, amount }: Priced, { blockNumber }: ClaimedFill) {
    const fill = { price, amountFilled: amount }
    const at = (number: bigint) =>
      stated?.(market, fill, callsAtNumber(client, number)).catch(() => undefined)
    return Promise.all([at(blockNumber), at(blockNumber - 1n)])
  }

  return {
    add: (match, fill) => void waiting.push({ match, fill }),
    unread: () => unread,
    async check() {
      const now = waiting
      waiting = []
      const quotes = await Promise.all(now.map(({ match, fill }) => quotesOf(match, fill)))
      for (const [index, { match, fill }] of now.entries()) {
        const known = quotes[index]?.filter((quote) => quote !== undefined) ?? []
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
