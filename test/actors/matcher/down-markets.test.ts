import { expect } from 'chai'
import {
  openDownMarkets,
  type DownMarkets,
  type DownMarketsOptions,
} from '../../../actors/matcher/down-markets.js'
import { decodePingAnswer } from '../../../bus-schemas/operations.js'
import { askPing } from '../../../bus-schemas/subjects.js'
import { NoAnswer } from '../../../runtime/bus/bus.js'
import { createMemoryBus, type MemoryBus } from '../../../runtime/bus/memory-bus.js'
import { answerPing } from '../../../runtime/process/process.js'
import { eventually } from '../../support/eventually.js'

describe('markets whose matcher stays down', () => {
  let bus: MemoryBus
  let down: DownMarkets
  beforeEach(() => (bus = createMemoryBus()))
  afterEach(() => down.stop())

  const open = (standby: boolean) => {
    down = openDownMarkets({ bus, standby, onError: (error) => expect.fail(String(error)) })
  }
  const ping = async (name: string) =>
    decodePingAnswer(await bus.ask(askPing(name), new Uint8Array(), 1_000))

  it('say so to who asks for their matchers, and of no other', async () => {
    open(false)
    down.add('A')
    const { ready, detail } = await ping('matcher-A')
    expect(ready).to.equal(false)
    expect(detail).to.include('until an operator mends what its log says (exit code 78)')
    expect([...down.names()]).to.deep.equal(['A'])
    expect([...down.running()]).to.deep.equal([['A', undefined]])
    expect(await ping('matcher-B').catch((error: unknown) => error)).to.be.instanceOf(NoAnswer)
  })

  it('answer nothing any more once they are stopped', async () => {
    const replies: string[] = []
    let asks = 0
    const noted: DownMarketsOptions['bus'] = {
      answer: (subject, queue, onAsk) =>
        bus.answer(subject, queue, (data, replyTo) => {
          asks += 1
          onAsk(data, replyTo)
        }),
      reply: (replyTo) => void replies.push(replyTo),
    }
    down = openDownMarkets({
      bus: noted,
      standby: false,
      onError: (error) => expect.fail(String(error)),
    })
    down.add('A')
    const asked = ping('matcher-A').catch((error: unknown) => error)
    await eventually(() => asks === 1)
    await down.stop()
    // Longer than it waits with an answer.
    expect(await asked).to.be.instanceOf(NoAnswer)
    expect(replies).to.deep.equal([])
  })

  it('leave the answer to a matcher that leads elsewhere, and speak as a standby where they are one', async () => {
    open(true)
    down.add('A')
    expect((await ping('matcher-A-standby')).ready).to.equal(false)
    await down.stop()
    open(false)
    down.add('A')
    const live = { ready: true, detail: 'live', positions: {} }
    const pings = await answerPing(bus, 'matcher-A', () => live)
    for (let times = 0; times < 4; times += 1)
      expect((await ping('matcher-A')).ready).to.equal(true)
    await pings.stop()
  })
})
