import { expect } from 'chai'
import { BusUnavailable } from '../../../runtime/bus/bus.js'
import { connectNatsBus } from '../../../runtime/bus/nats-bus.js'
import { openStreamCopies } from '../../../runtime/bus/nats-copies.js'
import { startNatsServer, type TestNatsServer } from '../../support/nats-server.js'

const STREAM = { stream: 'S', subject: 's', description: 'copied' }

describe('copies of streams', function () {
  const servers: TestNatsServer[] = []
  const start = async () => {
    const server = await startNatsServer()
    servers.push(server)
    return server
  }
  after(() => Promise.all(servers.map((server) => server.stop())))

  it('keep sequences, times, trimmed beginnings and versions, also of much and of a busy stream', async () => {
    const from = await start()
    const to = await start()
    const bus = await connectNatsBus({ url: from.url, name: 'test' })
    await bus.declareStream(STREAM)
    await bus.raiseStreamVersion('S', 7)
    const big = Buffer.alloc(200_000, 'x')
    for (let i = 1; i <= 40; i++) await bus.append('s', Buffer.concat([Buffer.from(`${i} `), big]))
    await bus.trim('S', 5)
    const kept = await bus.read('S', 5, 40)
    const copies = await openStreamCopies({ url: from.url, name: 'test' })
    const other = await openStreamCopies({ url: to.url, name: 'test' })
    const copy = await copies.copy('S')
    let busy = true
    const writing = (async () => {
      while (busy) await bus.append('s', Buffer.from('later'))
    })()
    expect(copy.state).to.include({ first_seq: 5, last_seq: 40, messages: 36 })
    const { state } = await other.restore('S', copy, copy.chunks)
    busy = false
    await writing
    expect(state.first_seq).to.equal(5)
    expect(state.last_seq).to.be.at.least(40)
    const there = await connectNatsBus({ url: to.url, name: 'test' })
    await there.declareStream(STREAM)
    expect(await there.streamVersion('S')).to.equal(7)
    expect(await there.read('S', 5, 36)).to.deep.equal(kept)
    const next = await there.append('s', Buffer.from('on'), { expectedLastSeq: state.last_seq })
    expect(next).to.equal(state.last_seq + 1)
    expect(await other.names()).to.deep.equal(['S'])
    const again = await copies.copy('S')
    const refused = await other
      .restore('S', again, again.chunks)
      .catch((error: unknown) => error as Error)
    expect(refused).to.be.instanceOf(BusUnavailable)
    await Promise.all([copies.close(), other.close(), bus.close(), there.close()])
  })
})
