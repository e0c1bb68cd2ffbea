import { expect } from 'chai'
import { once } from 'node:events'
import { createServer, type RequestListener, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { acceptForeign } from '../../../actors/operator/accept-foreign.js'
import { OperatorOrderRefused } from '../../../actors/market-orders/order-refused.js'

const HASH = `0x${'ab'.repeat(32)}`

describe('the operator’s acceptance of a foreign transaction', () => {
  const servers: Server[] = []
  const asked: unknown[] = []
  afterEach(() => {
    asked.length = 0
    for (const server of servers.splice(0)) {
      server.closeAllConnections()
      server.close()
    }
  })

  async function serve(answer: RequestListener): Promise<string> {
    const server = createServer((request, response) => {
      asked.push([request.method, request.url, request.headers.authorization])
      answer(request, response)
    })
    servers.push(server.listen(0, '127.0.0.1'))
    await once(server, 'listening')
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  }
  /** Where nothing listens any more. */
  async function nowhere(): Promise<string> {
    const url = await serve(() => undefined)
    const server = servers.pop()
    server?.close()
    return url
  }
  const answering = (status: number, body: string) =>
    serve((_request, response) => void response.writeHead(status).end(body))
  const silent = () => serve(() => undefined)
  const accept = (...urls: string[]) => acceptForeign({ urls, secret: 'word' }, HASH, 200)
  const refusalOf = async (...urls: string[]) => {
    const failed: unknown = await accept(...urls).catch((error: unknown) => error)
    expect(failed).to.be.instanceOf(OperatorOrderRefused)
    return (failed as OperatorOrderRefused).message
  }
  const accepted = { transactions: [{ evm_nonce: 3, tx_hash: HASH, block_number: '7' }] }

  it('is asked of the executor that listens, and says what used the nonces', async () => {
    const url = await answering(200, JSON.stringify(accepted))
    expect(await accept(await nowhere(), url)).to.equal(
      `nonce 3 was used by ${HASH} in block 7\n${HASH} is accepted: the executor settles again`,
    )
    expect(asked).to.deep.equal([['POST', '/accept-foreign', 'Bearer word']])
  })

  it('says that none is there only where nothing listens', async () => {
    expect(await refusalOf(await nowhere(), await nowhere())).to.match(/^no executor listens at /)
    const cut = await serve((request) => request.socket.destroy())
    const slow = await silent()
    const halfway = await serve((_request, response) => void response.writeHead(200).write('{'))
    for (const url of [cut, slow, halfway]) {
      expect(await refusalOf(url, await nowhere())).to.match(
        new RegExp(`^${url} gives no answer: .+ may have accepted ${HASH}`),
      )
    }
  })

  it('asks the other one where one gives no answer', async () => {
    const url = await answering(200, JSON.stringify(accepted))
    expect(await accept(await silent(), url)).to.include('is accepted')
  })

  it('says why the executor does not, as far as it tells', async () => {
    const url = await answering(422, JSON.stringify({ error: 'wait, and ask again' }))
    expect(await refusalOf(url)).to.equal('wait, and ask again')
    const proxy = await answering(502, '<html>')
    expect(await refusalOf(proxy)).to.equal(`${proxy} answers 502`)
  })
})
