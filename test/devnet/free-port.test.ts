import { expect } from 'chai'
import { once } from 'node:events'
import { createServer } from 'node:net'
import { freePort, probe } from '../../devnet/launcher/free-port.js'

describe('devnet/free-port', () => {
  it('gives each port once, below those of outgoing connections', async () => {
    const ports = await Promise.all(Array.from({ length: 50 }, freePort))
    expect(new Set(ports).size).to.equal(50)
    expect(Math.max(...ports)).to.be.below(32_768)
  })

  it('sees a port on which a process listens', async () => {
    const port = await freePort()
    const server = createServer().listen(port, '127.0.0.1')
    await once(server, 'listening')
    const error: unknown = await probe(port).catch((thrown: unknown) => thrown)
    server.close()
    expect(error).to.have.property('code', 'EADDRINUSE')
  })
})
