import { expect } from 'chai'
import { createServer, type IncomingHttpHeaders, type RequestListener } from 'node:http'
import { createServer as createSocketServer, type AddressInfo, type Server } from 'node:net'
import { askExecutorAt, createPoster } from '../../../actors/matcher/ask-executor.js'
import { createExecutors, fetchFromExecutor } from '../../../actors/matcher/executors.js'
import { askReversalsAt } from '../../../actors/matcher/reversals.js'
import type { ExecuteRequest } from '../../../interface/execute.js'
import { rejectionOf } from '../../runtime/bus/probes.js'
import { eventually } from '../../support/eventually.js'

const payload = { market: 'cNGN-USDC' } as ExecuteRequest
const hash = `0x${'a'.repeat(64)}`
const MINED = { accepted: true, tx_hash: hash, receipt_status: 'success', block_number: '7' }
const never = new AbortController().signal

describe('the executors of a venue', () => {
  const servers: Server[] = []
  afterEach(async () => {
    for (const server of servers.splice(0)) {
      if ('closeAllConnections' in server) (server.closeAllConnections as () => void)()
      await new Promise((resolve) => server.close(resolve))
    }
  })
  async function listen(server: Server): Promise<string> {
    servers.push(server)
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    return `127.0.0.1:${(server.address() as AddressInfo).port}`
  }
  const serve = async (answer: RequestListener) => `http://${await listen(createServer(answer))}`
  const address = (url: string, secret = 'word') => ({
    executors: createExecutors([url]),
    secret,
    timeoutMs: 10_000,
  })

  it('are asked in the order in which they are set, from another one on when that is used', () => {
    const executors = createExecutors(['a', 'b', 'c'])
    const left: string[] = []
    executors.onLeft((url) => left.push(url))
    executors.onLeft((url) => left.push(`${url} too`))
    expect(executors.inOrder()).to.deep.equal(['a', 'b', 'c'])
    executors.use('a')
    expect(left).to.deep.equal([])
    executors.use('c')
    expect(executors.inOrder()).to.deep.equal(['c', 'a', 'b'])
    expect(left).to.deep.equal(['a', 'a too'])
  })

  it('are read with the secret', async () => {
    const seen: (string | undefined)[] = []
    const url = await serve(({ headers }, response) => {
      seen.push(headers.authorization)
      response.end('{"a":1}')
    })
    const one = { url, timeoutMs: 10_000 }
    expect(await fetchFromExecutor({ ...one, secret: 'word' }, '/x', never)).to.deep.equal({ a: 1 })
    expect(seen).to.deep.equal(['Bearer word'])
  })

  it('are given up when one answers something else, in too long a time, or the caller stops', async () => {
    let status = 503
    const url = await serve((request, response) => {
      if (request.url === '/x') response.writeHead(status).end('{}')
    })
    const read = (path: string, signal: AbortSignal, timeoutMs = 10_000) =>
      fetchFromExecutor({ url, secret: 'word', timeoutMs }, path, signal)
    expect(String(await rejectionOf(read('/x', never)))).to.contain('503')
    status = 201
    await rejectionOf(read('/x', never))
    await rejectionOf(read('/silent', never, 20))
    const stopping = new AbortController()
    const waiting = rejectionOf(read('/silent', stopping.signal))
    stopping.abort()
    await waiting
  })

  it('are asked for a settlement with the secret', async () => {
    const seen: IncomingHttpHeaders[] = []
    const places: string[] = []
    const url = await serve(({ headers, method, url }, response) => {
      seen.push(headers)
      places.push(`${method ?? ''} ${url ?? ''}`)
      response.end(JSON.stringify(MINED))
    })
    const { kind } = await askExecutorAt(address(url))('a:1', payload, never)
    expect(kind).to.equal('success')
    expect(seen[0]).to.include({ authorization: 'Bearer word' })
    expect(places).to.deep.equal(['POST /execute'])
  })

  it('keep the connections of so many requests at once, and close them once they are left', async () => {
    const waiting: (() => void)[] = []
    const sockets = new Set<unknown>()
    const url = await serve(({ socket }, response) => {
      if (!sockets.has(socket)) socket.on('close', () => sockets.delete(socket))
      sockets.add(socket)
      waiting.push(() => response.end('{}'))
    })
    const left = new AbortController()
    const place = { url: new URL('/execute', url), timeoutMs: 10_000, maxKept: 2 }
    const post = createPoster({ ...place, left: left.signal })
    const posted = Array.from({ length: 3 }, () => post('ü', {}, never))
    await eventually(() => waiting.length === 3)
    for (const answer of waiting) answer()
    expect(await Promise.all(posted)).to.deep.equal(Array(3).fill({ status: 200, text: '{}' }))
    await eventually(() => sockets.size === 2)
    left.abort()
    await eventually(() => sockets.size === 0)
  })

  it('are spoken to by TLS where their address says so', async () => {
    const first: number[] = []
    const server = createSocketServer((socket) => {
      socket.on('error', () => undefined)
      socket.once('data', (data) => {
        first.push(data[0] ?? -1)
        socket.destroy()
      })
    })
    const url = `https://${await listen(server)}`
    const answer = await askExecutorAt(address(url))('a:1', payload, never)
    expect(answer.kind).to.equal('undecided')
    // A handshake, not the text of a request.
    expect(first).to.deep.equal([22])
  })

  it('tell reversals above a number, with the outcome that is final', async () => {
    const asked: string[] = []
    const before = { status: 'success', tx_hash: hash, block_number: '3' }
    const now = [
      { status: 'success', tx_hash: hash, block_number: '9' },
      { status: 'reverted', revert: 'OutOfGas' },
    ]
    const reversals = now.map((each, i) => ({ no: i + 8, settlement_id: 'm:2', before, now: each }))
    const url = await serve((request, response) => {
      asked.push(`${request.url ?? ''} ${request.headers.authorization ?? ''}`)
      response.end(JSON.stringify({ reversals }))
    })
    expect(await askReversalsAt(address(url, 'word'))(7, never)).to.deep.equal([
      { no: 8, settlementId: 'm:2', now: { kind: 'success', txHash: hash, blockNumber: 9n } },
      { no: 9, settlementId: 'm:2', now: { kind: 'reverted', revert: 'OutOfGas' } },
    ])
    expect(asked).to.deep.equal(['/reversals?after=7 Bearer word'])
  })

  it('tell why reversals cannot be read', async () => {
    let text = '{"reversals":[{}]}'
    let status = 200
    const url = await serve((_, response) => response.writeHead(status).end(text))
    const ask = askReversalsAt(address(url))
    expect(await ask(0, never)).to.be.a('string')
    text = '{"reversals":[]}'
    expect(await ask(0, never)).to.deep.equal([])
    status = 503
    expect(await ask(0, never)).to.equal('no answer: the executor answers 503')
  })
})
