import { expect } from 'chai'
import { AppendUnknown, BusUnavailable, NoAnswer } from '../../../runtime/bus/bus.js'
import { createMemoryBus, type MemoryBus } from '../../../runtime/bus/memory-bus.js'
import { eventually } from '../../support/eventually.js'
import { busContract } from './bus-contract.js'
import { claimsContract } from './claims-contract.js'
import { bytes, recorder, rejectionOf, run, textsOf } from './probes.js'
import { versionContract } from './version-contract.js'

const open = () => {
  const server = createMemoryBus()
  return Promise.resolve({
    connect: () => Promise.resolve(server.connect()),
  })
}
busContract('in memory', open)
claimsContract('in memory', open)
versionContract('in memory', open)

describe('faults of the bus in memory', () => {
  const spec = { stream: 'S', subject: 's', description: '' }
  let bus: MemoryBus
  beforeEach(async () => {
    bus = createMemoryBus({ nowMs: () => 42 })
    await bus.declareStream(spec)
  })

  it('can store an append and lose its acknowledgement', async () => {
    bus.failNextAppendAck()
    expect(await rejectionOf(bus.append('s', bytes('a')))).to.be.instanceOf(AppendUnknown)
    expect(await bus.append('s', bytes('b'))).to.equal(2)
    expect(textsOf(await bus.read('S', 1, 9))).to.deep.equal(['a', 'b'])
  })

  it('can lose an append', async () => {
    bus.loseNextAppend()
    expect(await rejectionOf(bus.append('s', bytes('a')))).to.be.instanceOf(AppendUnknown)
    expect(await bus.append('s', bytes('b'))).to.equal(1)
  })

  it('can hold acknowledgements back while messages are stored', async () => {
    const release = bus.holdAppendAcks()
    let acked = 0
    const appended = bus.append('s', bytes('a')).then((seq) => (acked = seq))
    expect((await bus.lastMessage('S'))?.storedAtMs).to.equal(42)
    expect(acked).to.equal(0)
    release()
    expect(await appended).to.equal(1)
  })

  it('can cut one connection, whose followers go on where they were', async () => {
    const other = bus.connect()
    const seen = recorder('S', 1)
    await other.follow(seen.options)
    await bus.append('s', bytes('a'))
    await eventually(() => seen.seqs.length === 1)
    other.setConnected(false)
    expect(await rejectionOf(other.append('s', bytes('x')))).to.be.instanceOf(AppendUnknown)
    expect(await rejectionOf(other.read('S', 1, 1))).to.be.instanceOf(BusUnavailable)
    expect(await rejectionOf(other.ask('q', bytes('x'), 10))).to.be.instanceOf(NoAnswer)
    for (const n of run(2, 5)) await bus.append('s', bytes(`${n}`))
    expect(seen.seqs).to.deep.equal([1])
    other.setConnected(true)
    await eventually(() => seen.seqs.length === 6)
    expect(seen.seqs).to.deep.equal(run(1, 6))
  })
})
