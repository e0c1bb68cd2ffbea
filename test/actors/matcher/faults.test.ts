import { expect } from 'chai'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createExecutors } from '../../../actors/matcher/executors.js'
import { askFaultsAt } from '../../../actors/matcher/faults.js'
import { freePort } from '../../support/free-port.js'

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
    return askFaultsAt({ executors: createExecutors([url]), secret: 'word', timeoutMs: 1_000 })(
      signal,
    )
  }

  it('reads them by market, with the secret', async () => {
    answer = { status: 200, text: '{"faults":{"cNGN-USDC":"M_OnlyTradeExecutor"}}' }
    expect(await ask()).to.deep.equal({ 'cNGN-USDC': 'M_OnlyTradeExecutor' })
    expect(asked).to.deep.equal(['/faults Bearer word'])
  })

  it('asks the next executor when the one in use refuses the connection, and uses it from then on', async () => {
    answer = { status: 200, text: '{"faults":{}}' }
    const { port } = server.address() as AddressInfo
    const [standby, leading] = [`http://127.0.0.1:${await freePort()}`, `http://127.0.0.1:${port}`]
    const executors = createExecutors([standby, leading])
    const left: string[] = []
    executors.onLeft((url) => left.push(url))
    const askAny = askFaultsAt({ executors, secret: 'word', timeoutMs: 1_000 })
    for (let times = 0; times < 2; times += 1) {
      expect(await askAny(new AbortController().signal)).to.deep.equal({})
    }
    expect(executors.inOrder()).to.deep.equal([leading, standby])
    expect(left).to.deep.equal([standby])
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
