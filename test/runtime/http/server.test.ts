import { expect } from 'chai'
import { Agent, request as httpRequest, type ServerResponse } from 'node:http'
import { closeServer, createHttpServer, listen } from '../../../runtime/http/server.js'

describe('closing the HTTP server', () => {
  const get = (port: number, agent: Agent): Promise<string> =>
    new Promise((resolve, reject) => {
      httpRequest({ host: '127.0.0.1', port, agent }, (response) => {
        let text = ''
        response.on('data', (chunk: Buffer) => (text += chunk.toString()))
        response.on('end', () => resolve(text))
        response.on('error', reject)
      })
        .on('error', reject)
        .end()
    })

  it('lets a request in flight finish, closes its kept-alive connection and accepts no other', async () => {
    const held: ServerResponse[] = []
    let arrived: () => void = () => undefined
    const server = createHttpServer((_request, response) => {
      held.push(response)
      arrived()
    })
    const port = await listen(server, 0, '127.0.0.1')
    const agent = new Agent({ keepAlive: true })
    const reached = new Promise<void>((resolve) => (arrived = resolve))
    const underWay = get(port, agent)
    await reached
    // A kept-alive connection that stayed open would hold it for the whole grace period.
    const closed = closeServer(server, 600_000)
    const refused = await get(port, new Agent()).catch((error: unknown) => error)
    expect(refused).to.have.property('code', 'ECONNREFUSED')
    held[0]?.end('done')
    expect(await underWay).to.equal('done')
    await closed
    agent.destroy()
  })

  it('closes what does not finish within the grace period', async () => {
    let arrived: () => void = () => undefined
    const server = createHttpServer(() => arrived())
    const port = await listen(server, 0, '127.0.0.1')
    const reached = new Promise<void>((resolve) => (arrived = resolve))
    const underWay = get(port, new Agent()).catch((error: unknown) => error)
    await reached
    await closeServer(server, 20)
    expect(await underWay).to.have.property('code', 'ECONNRESET')
  })

  it('rejects when the port is in use', async () => {
    const server = createHttpServer(() => undefined)
    const port = await listen(server, 0, '127.0.0.1')
    const second = createHttpServer(() => undefined)
    const error = await listen(second, port, '127.0.0.1').catch((reason: unknown) => reason)
    expect(error).to.have.property('code', 'EADDRINUSE')
    await closeServer(server, 0)
  })
})
