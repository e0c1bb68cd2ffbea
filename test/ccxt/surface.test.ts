import { NotSupported } from 'ccxt'
import { expect } from 'chai'
import { VenuePro } from '../../ccxt/index.js'
import { marketEntry } from '../../core/records/market-entry.js'
import { aMarket } from '../support/builders.js'
import { methodsOf } from './surface.js'

/** Arguments with which any of them may be called; a request of it has no answer. */
const ARGS = ['CNGN/USDC', 'limit', 'buy', 1, 1, 1, 1]

describe('the methods of the CCXT class', () => {
  const exchange = new VenuePro({ privateKey: `0x${'11'.repeat(32)}` })
  before(() => {
    exchange.setMarkets(exchange.parseMarkets([marketEntry(aMarket())]))
    exchange.fetch = () => Promise.reject(new Error('a request was made'))
  })

  it('are there where it says so', () => {
    const methods = new Set(methodsOf(exchange).map(([name]) => name))
    const flags = ['publicAPI', 'privateAPI', 'spot', 'swap', 'future', 'ws']
    const said = Object.keys(exchange.has).filter((name) => exchange.has[name] === true)
    expect(said.filter((name) => !methods.has(name))).to.have.members(flags)
  })

  it('refuse as not supported where it does not say so, but for what CCXT itself emulates', async () => {
    const others = methodsOf(exchange).filter(
      ([name]) => exchange.has[name] !== true && exchange.has[name] !== 'emulated',
    )
    const wrong: string[] = []
    for (const [name, method] of others) {
      const error: unknown = await Promise.resolve()
        .then(() => method.apply(exchange, ARGS))
        .then(
          () => 'it answered',
          (reason: unknown) => reason,
        )
      if (!(error instanceof NotSupported)) wrong.push(`${name}: ${String(error)}`)
    }
    expect(wrong).to.deep.equal([])
    expect(others.length).to.be.above(140)
  })
})
