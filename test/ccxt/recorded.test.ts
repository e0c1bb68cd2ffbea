import { expect } from 'chai'
import { readFileSync } from 'node:fs'
import { Replayed, type Recording } from './recorded-exchange.js'

const file = new URL('../../../test/ccxt/recorded-calls.json', import.meta.url)

/**
 * Written anew by `WRITE_CCXT=1 ./venue test dist/test/e2e/ccxt.test.js`. The key is that of a development chain, and so are nonce and
 * time: a request is the same to the last byte of its signature.
 */
describe('recorded calls of the CCXT class', () => {
  const recording = JSON.parse(readFileSync(file, 'utf8')) as Recording
  const exchange = new Replayed(recording)

  it('are of the methods that a program needs, in all three kinds of markets', () => {
    const methods = new Set(recording.calls.map(({ method }) => method))
    expect([...methods]).to.include.members(['createOrder', 'fetchOrder', 'fetchBalance'])
    expect(methods.size).to.be.above(15)
  })

  for (const [index, call] of recording.calls.entries())
    it(`${index}: ${call.method} ${call.args.join(' ')} sends and returns the same`, async () => {
      const returned = await exchange.replay(call)
      const wanted = call.exchanged.map(({ method, url, own, body }) => ({
        method,
        url,
        own,
        ...(body !== undefined && { body }),
      }))
      expect(exchange.sent).to.deep.equal(wanted)
      expect(returned).to.deep.equal(call.returns)
    })
})
