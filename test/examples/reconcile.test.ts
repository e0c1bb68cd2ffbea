import { expect } from 'chai'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { json } from 'node:stream/consumers'
import { settlementsOf } from '../../examples/perpetual.js'
import { disagreements, untilAgreed } from '../../examples/quoter.js'

const E18 = 10n ** 18n

describe('the fills of the example quoter', () => {
  it('are asked for until all agree, and no longer than the wait: it ends with what does not', async () => {
    const chain = { cngnE18: 5n * E18, usdcE18: -E18 }
    const looks = [{ cngnE18: 0n, usdcE18: 0n }, chain]
    const look = () => Promise.resolve(disagreements({ history: looks.shift() ?? chain }, chain))
    await untilAgreed(look, { withinMs: 10_000, everyMs: 1 })
    expect(looks).to.deep.equal([])

    const missed = { history: chain, 'the socket': { ...chain, cngnE18: 2n * E18 } }
    const failure: unknown = await untilAgreed(
      () => Promise.resolve(disagreements(missed, chain)),
      { withinMs: 0, everyMs: 1 },
    ).catch((error: unknown) => error)
    expect(String(failure)).to.equal(
      'Error: the fills do not add up: the socket says 2 cNGN, -1 USDC, the chain 5 cNGN, -1 USDC',
    )
  })

  it('are marked by events that are read in ranges which a node answers', async () => {
    const ranges: string[] = []
    const node = createServer((request, response) => {
      void json(request).then((given) => {
        const { id, params } = given as {
          readonly id: number
          readonly params: readonly [{ readonly fromBlock: string; readonly toBlock: string }]
        }
        const [{ fromBlock, toBlock }] = params
        ranges.push(`${Number(fromBlock)} to ${Number(toBlock)}`)
        response.setHeader('content-type', 'application/json')
        response.end(JSON.stringify({ jsonrpc: '2.0', id, result: [] }))
      })
    })
    await new Promise<void>((resolve) => node.listen(0, '127.0.0.1', resolve))
    try {
      const url = `http://127.0.0.1:${(node.address() as AddressInfo).port}`
      const address = `0x${'aa'.repeat(20)}` as const
      const of = { subaccountId: '7', from: 10, to: 2_500 }
      expect(await settlementsOf(url, { asset: address, manager: address }, of)).to.deep.equal({
        marks: new Map(),
        gainE18: 0n,
      })
      expect([...new Set(ranges)]).to.deep.equal(['11 to 1010', '1011 to 2010', '2011 to 2500'])
    } finally {
      node.closeAllConnections()
      node.close()
    }
  })
})
