import { expect } from 'chai'
import { pairedByPrice, type ClaimedMatch } from '../../../actors/auditor/check-quotes.js'
import type { Hex } from '../../../core/action.js'
import { amountE18, E18, priceE18 } from '../../../core/money.js'

const TX: Hex = `0x${'11'.repeat(32)}`
const OTHER_TX: Hex = `0x${'22'.repeat(32)}`

/** A match at a price that has claimed a fill with a quote. */
const claimed = (
  settlementId: string,
  {
    price,
    quote,
    maker = 1n,
    txHash = TX,
  }: { price: bigint; quote: bigint } & {
    readonly maker?: bigint
    readonly txHash?: Hex
  },
): ClaimedMatch => ({
  match: { settlementId, price: priceE18(price), amount: amountE18(59n * E18) },
  wanted: { instrument: 'a-0', taker: 2n, maker, takerIsBid: false, amount: 59n * E18 },
  fill: { txHash, blockNumber: 51n, quote },
})

const quotesOf = (matches: readonly ClaimedMatch[]) =>
  Object.fromEntries(
    pairedByPrice(matches).map(({ match, fill }) => [match.settlementId, fill.quote]),
  )

describe('the quotes that an audit compares', () => {
  it('are of the fills in the order of the prices, however equal fills were claimed', () => {
    const high = claimed('high', { price: 65_009n, quote: 413n })
    const low = claimed('low', { price: 65_007n, quote: 531n })
    expect(quotesOf([high, low])).to.deep.equal({ high: 531n, low: 413n })
    expect(quotesOf([low, high])).to.deep.equal({ high: 531n, low: 413n })
  })

  it('stay as they were claimed between other accounts and in other transactions', () => {
    const high = claimed('high', { price: 65_009n, quote: 413n })
    for (const other of [{ maker: 3n }, { txHash: OTHER_TX }]) {
      const low = claimed('low', { price: 65_007n, quote: 531n, ...other })
      expect(quotesOf([high, low])).to.deep.equal({ high: 413n, low: 531n })
    }
  })
})
