import { expect } from 'chai'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { askFaultsAt } from '../../../actors/matcher/faults.js'

describe('asking the executor for faults', () => {
  let server: Server
  let answer: { status: number; text: string }
  let asked: string[]

  before((done) => {
    server = createServer((request, response) => {
      asked.push(`${request.url ?? ''} ${request.headers.authorization ?? ''}`)
      response.writeHead(answer.status).end(answer.text)
    })
    server.listen(0, '127.0.0.1', done)
  })
  after((done) => void server.close(done))
  beforeEach(() => (asked = []))

  function ask() {
    const { port } = server.address() as AddressInfo
    const url = `http://127.0.0.1:${port}`
    const { signal } = new AbortController()
    return askFaultsAt({ url, secret: 'word', timeoutMs: 1_000 })(signal)
  }

  it('reads them by market, with the secret', async () => {
    answer = { status: 200, text: '{"faults":{"cNGN-USDC":"M_OnlyTradeExecutor"}}' }
    expect(await ask()).to.deep.equal({ 'cNGN-USDC': 'M_OnlyTradeExecutor' })
    expect(asked).to.deep.equal(['/faults Bearer word'])
  })

  it('knows nothing when the executor does not know, or answers something else', async () => {
    for (const other of [
      { status: 503, text: '{"error":"the chain does not answer"}' },
      { status: 200, text: '{}' },
      { status: 200, text: '{"faults":{"cNGN-USDC":"a text"}}' },
      { status: 200, text: 'no JSON' },
    ]) {
      answer = other
      expect(await ask()).to.equal(undefined)
    }
  })
})
