import { expect } from 'chai'
import { EventEmitter, once } from 'node:events'
import type { Server } from 'node:http'
import { connect, type Socket } from 'node:net'
import { Duplex } from 'node:stream'
import { boundConnections } from '../../../runtime/http/connections.js'
import {
  closeServer,
  createHttpServer,
  listen,
  SERVER_LIMITS,
  type ServerLimits,
} from '../../../runtime/http/server.js'
import { eventually } from '../../support/eventually.js'

/** A connection from this address, and what is written to it. */
function aPeer(remoteAddress: string) {
  let text = ''
  const socket = new Duplex({
    read: () => undefined,
    write: (chunk, _encoding, done) => {
      text += String(chunk)
      done()
    },
  })
  return { socket: Object.assign(socket, { remoteAddress }), received: () => text }
}

describe('the bound of connections', () => {
  function aServer(limits: Partial<ServerLimits>) {
    const server = new EventEmitter() as Server
    boundConnections(server, { ...SERVER_LIMITS, ...limits })
    return {
      connectFrom(address: string) {
        const peer = aPeer(address)
        server.emit('connection', peer.socket)
        return peer
      },
      end: () => server.emit('close'),
    }
  }

  it('refuses one connection of an address too many, and counts those that have closed no more (OPE-029)', async () => {
    const server = aServer({ maxConnectionsPerAddress: 2 })
    const first = server.connectFrom('203.0.113.1')
    server.connectFrom('::ffff:203.0.113.1')
    const third = server.connectFrom('203.0.113.1')
    await eventually(() => third.socket.writableFinished)
    expect(third.received()).to.match(/^HTTP\/1.1 429 [^]*Retry-After: 1\r\n[^]*"too_many_connec/)
    first.socket.destroy()
    await once(first.socket, 'close')
    const others = ['203.0.113.1', '203.0.113.2', '127.0.0.1', '::1', '127.0.0.1'].map((address) =>
      server.connectFrom(address),
    )
    for (const { socket, received } of others) {
      expect([received(), socket.writable]).to.deep.equal(['', true])
    }
    server.end()
  })

  it('refuses connections above the bound of all, those of this machine too (OPE-029)', async () => {
    const server = createHttpServer((_request, response) => void response.end('served'), {
      maxConnections: 2,
    })
    const port = await listen(server, 0, '127.0.0.1')
    const sockets: { socket: Socket; received: () => string }[] = []
    const open = async () => {
      const socket = connect(port, '127.0.0.1')
      let text = ''
      socket.on('error', () => undefined)
      socket.on('data', (chunk) => (text += chunk.toString()))
      sockets.push({ socket, received: () => text })
      await once(socket, 'connect')
      socket.write('GET / HTTP/1.1\r\nHost: venue\r\n\r\n')
      await eventually(() => text !== '')
      return text
    }
    expect(await open()).to.match(/^HTTP\/1.1 200 /)
    expect(await open()).to.match(/^HTTP\/1.1 200 /)
    expect(await open()).to.match(/^HTTP\/1.1 503 [^]*Retry-After: 1\r\n[^]*"too_many_connections"/)
    await eventually(() => sockets[2]?.socket.destroyed)
    sockets[0]?.socket.destroy()
    await eventually(async () => /^HTTP\/1.1 200 /.test(await open()))
    for (const { socket } of sockets) socket.destroy()
    await closeServer(server, 0)
  })

  it('gives the place of one that has sent nothing to a new one when all are taken', async () => {
    const server = createHttpServer((_request, response) => void response.end('served'), {
      maxConnections: 2,
    })
    const port = await listen(server, 0, '127.0.0.1')
    const silent = connect(port, '127.0.0.1')
    let refusal = ''
    silent.on('data', (chunk) => (refusal += chunk.toString()))
    await once(silent, 'connect')
    const served = async () => {
      const socket = connect(port, '127.0.0.1')
      socket.write('GET / HTTP/1.1\r\nHost: venue\r\n\r\n')
      const [answer] = (await once(socket, 'data')) as [Buffer]
      return { socket, status: answer.toString().slice(9, 12) }
    }
    const answered = [await served(), await served()]
    await eventually(() => silent.destroyed)
    expect(refusal).to.match(/^HTTP\/1.1 503 [^]*"too_many_connections"/)
    answered.push(await served())
    expect(answered.map(({ status }) => status)).to.deep.equal(['200', '200', '503'])
    for (const { socket } of answered) socket.destroy()
    await closeServer(server, 0)
  })

  it('disconnects a client that does not take its answer, and no other', async () => {
    const large = Buffer.alloc(32 * 1024 * 1024)
    const server = createHttpServer(
      ({ url }, response) => void response.end(url === '/large' ? large : 'small'),
      {
        graceMs: 100,
        minBytesPerMs: large.length,
        checkEveryMs: 20,
        silentMs: 600_000,
        headersTimeoutMs: 600_000,
        requestTimeoutMs: 600_000,
      },
    )
    const port = await listen(server, 0, '127.0.0.1')
    const ask = async (path: string) => {
      const socket = connect(port, '127.0.0.1')
      socket.on('error', () => undefined)
      await once(socket, 'connect')
      socket.write(`GET ${path} HTTP/1.1\r\nHost: venue\r\n\r\n`)
      return socket
    }
    const idle = connect(port, '127.0.0.1')
    await once(idle, 'connect')
    const lazy = await ask('/large')
    lazy.pause()
    const connections = () =>
      new Promise<number>((resolve) => server.getConnections((_error, count) => resolve(count)))
    await eventually(async () => (await connections()) === 2)
    await eventually(async () => (await connections()) === 1)
    const busy = await ask('/small')
    const [answer] = (await once(busy, 'data')) as [Buffer]
    expect(answer.toString()).to.match(/^HTTP\/1.1 200 /)
    for (const socket of [idle, lazy, busy]) socket.destroy()
    await closeServer(server, 0)
  })

  it('closes one that sends nothing, and leaves one that has sent something', async () => {
    const server = createHttpServer(() => undefined, { silentMs: 50 })
    const port = await listen(server, 0, '127.0.0.1')
    const silent = connect(port, '127.0.0.1').resume()
    const busy = connect(port, '127.0.0.1').resume()
    busy.write('GET / HTTP/1.1\r\nHost: venue\r\n\r\n')
    await once(silent, 'close')
    const later = connect(port, '127.0.0.1').resume()
    await once(later, 'close')
    expect(busy.destroyed).to.equal(false)
    busy.destroy()
    await closeServer(server, 0)
  })

  it('answers 408 to an upload that stops half-way, and closes its connection', async () => {
    const server = createHttpServer(() => undefined, {
      requestTimeoutMs: 200,
      headersTimeoutMs: 100,
    })
    const port = await listen(server, 0, '127.0.0.1')
    const socket = connect(port, '127.0.0.1')
    let text = ''
    socket.on('data', (chunk) => (text += chunk.toString()))
    socket.write(
      'POST /v1/orders HTTP/1.1\r\nHost: venue\r\nContent-Length: 1000\r\n\r\n{"order_id":',
    )
    await once(socket, 'close')
    expect(text).to.match(/^HTTP\/1.1 408 [^]*"request took too long"/)
    await closeServer(server, 0)
  })
})
