import { expect } from 'chai'
import { NoAnswer } from '../../../runtime/bus/bus.js'
import { BusShareClosed, shareBus, type BusShare } from '../../../runtime/bus/bus-share.js'
import { createMemoryBus, type MemoryBus } from '../../../runtime/bus/memory-bus.js'
import { eventually } from '../../support/eventually.js'
import { busContract } from './bus-contract.js'
import { bytes, recorder, rejectionOf } from './probes.js'

busContract('shared', () => {
  const server = createMemoryBus()
  const failed = (error: unknown) => {
    throw error
  }
  return Promise.resolve({ connect: () => Promise.resolve(shareBus(server.connect(), failed)) })
})

describe('a share of a bus that is closed', () => {
  let bus: MemoryBus
  let share: BusShare
  let failures: unknown[]
  beforeEach(async () => {
    bus = createMemoryBus()
    await bus.declareStream({ stream: 'S', subject: 's', description: '' })
    failures = []
    share = shareBus(bus, (error) => failures.push(error))
  })

  it('sends and reads nothing any more, and the connection goes on', async () => {
    await share.append('s', bytes('a'))
    await share.close()
    const calls = [
      share.append('s', bytes('b')),
      share.read('S', 1, 1),
      share.streamState('S'),
      share.ask('q', bytes('x'), 10),
      share.answer('q', 'queue', () => undefined),
    ]
    for (const call of calls) expect(await rejectionOf(call)).to.be.instanceOf(BusShareClosed)
    expect(share.isConnected()).to.equal(false)
    expect(await bus.append('s', bytes('c'))).to.equal(2)
    expect(bus.isConnected()).to.equal(true)
  })

  it('gives no answer to a call that was under way', async () => {
    const release = bus.holdAppendAcks()
    const appending = rejectionOf(share.append('s', bytes('a')))
    await share.close()
    release()
    expect(await appending).to.be.instanceOf(BusShareClosed)
  })

  it('calls no handler any more, and waits for none', async () => {
    const seen: number[] = []
    await share.follow({
      stream: 'S',
      fromSeq: 1,
      onMessage: ({ seq }) => {
        seen.push(seq)
        return new Promise(() => undefined)
      },
      onError: (error) => failures.push(error),
    })
    const other = recorder('S', 1)
    await bus.follow(other.options)
    let asked = 0
    await share.answer('q', 'queue', () => (asked += 1))
    await bus.append('s', bytes('a'))
    await eventually(() => seen.length === 1)
    await share.close()
    await bus.append('s', bytes('b'))
    await eventually(() => other.seqs.length === 2)
    await rejectionOf(bus.ask('q', bytes('x'), 10))
    expect([seen, asked, failures]).to.deep.equal([[1], 0, []])
  })

  it('drops an answer that is ready too late, and says nothing of it', async () => {
    let replyLate = (): void => undefined
    await share.answer('q', 'queue', (_, replyTo) => {
      replyLate = () => share.reply(replyTo, bytes('late'))
    })
    const asking = rejectionOf(bus.ask('q', bytes('x'), 50))
    await Promise.resolve()
    await share.close()
    replyLate()
    expect(await asking).to.be.instanceOf(NoAnswer)
  })

  it('stops each subscription once, also when its user stops it too', async () => {
    let stops = 0
    const stop = () => {
      stops += 1
      return stops === 1 ? Promise.resolve() : Promise.reject(new Error('stopped already'))
    }
    const once = shareBus({ ...bus, answer: () => Promise.resolve({ stop }) }, (error) =>
      failures.push(error),
    )
    const subscription = await once.answer('q', 'queue', () => undefined)
    await once.close()
    await subscription.stop()
    await once.close()
    expect(stops).to.equal(1)
  })

  it('hands on what a handler of questions throws', async () => {
    const wrong = new Error('wrong')
    await share.answer('q', 'queue', () => {
      throw wrong
    })
    await rejectionOf(bus.ask('q', bytes('x'), 10))
    expect(failures).to.deep.equal([wrong])
  })
})
