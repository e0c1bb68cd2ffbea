import { expect } from 'chai'
import { NetworkError } from 'ccxt'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { WebSocketServer } from 'ws'
import { VenuePro } from '../../ccxt/index.js'

describe('the socket of the CCXT class', () => {
  it('fails what waits on a connection that has ended when a frame is sent, and rejects nothing unseen', async () => {
    const server = new WebSocketServer({ host: '127.0.0.1', port: 0 })
    await once(server, 'listening')
    const url = `ws://127.0.0.1:${(server.address() as AddressInfo).port}`
    const venue = new VenuePro({ urls: { api: { rest: 'http://127.0.0.1:1', ws: url } } })
    try {
      await venue.loadHttpProxyAgent()
      const client = venue.client(url)
      expect(venue.client(url).send).to.equal(client.send)
      await client.connect()
      const waiting = client.future('trades').catch((error: unknown) => error)
      client.connection.close()
      // It does not reject, as CCXT does not look.
      await client.send({ op: 'subscribe', channel: 'trades' })
      expect(await waiting).to.be.instanceOf(NetworkError)
    } finally {
      await venue.close()
      server.close()
    }
  })
})
