import { expect } from 'chai'
import { publishBlock } from '../../../actors/matcher/lead.js'
import { Fenced } from '../../../runtime/actor/leadership.js'
import { feedStream, feedSubject } from '../../../bus-schemas/subjects.js'
import { AppendRefused, WrongLastSequence, type Bus } from '../../../runtime/bus/bus.js'
import { createMemoryBus } from '../../../runtime/bus/memory-bus.js'

const market = 'cNGN-USDC'
const block = new TextEncoder().encode('block')

async function aFeed(messages: number) {
  const bus = createMemoryBus()
  await bus.declareStream({
    stream: feedStream(market),
    subject: feedSubject(market),
    description: '',
  })
  for (let n = 0; n < messages; n++) await bus.append(feedSubject(market), new Uint8Array([n]))
  return bus
}

async function publish(bus: Bus, lastSeq: number) {
  const unknown: unknown[] = []
  const onUnknown = (error: unknown) => unknown.push(error)
  try {
    return { seq: await publishBlock({ bus, market, onUnknown }, block, lastSeq), unknown }
  } catch (thrown) {
    return { thrown, unknown }
  }
}

describe('publishing a block', () => {
  it('is fenced by a feed that lost messages, instead of trying for ever', async () => {
    const { thrown, unknown } = await publish(await aFeed(1), 3)
    expect(thrown).to.be.instanceOf(Fenced)
    expect(unknown[0]).to.be.instanceOf(WrongLastSequence)
  })

  it('is fenced by a feed that lost all messages', async () => {
    expect((await publish(await aFeed(0), 3)).thrown).to.be.instanceOf(Fenced)
  })

  it('waits for a server that has no room', async () => {
    const feed = await aFeed(1)
    let refusals = 2
    const append: Bus['append'] = (...args) => {
      refusals -= 1
      if (refusals >= 0) return Promise.reject(new AppendRefused('no room'))
      return feed.append(...args)
    }
    expect((await publish({ ...feed, append }, 1)).seq).to.equal(2)
  })

  it('is fenced by another leader’s block of the same length', async () => {
    const feed = await aFeed(1)
    const other = new TextEncoder().encode('BLOCK')
    const append: Bus['append'] = async (...args) => {
      await feed.append(feedSubject(market), other)
      return feed.append(...args)
    }
    expect((await publish({ ...feed, append }, 1)).thrown).to.be.instanceOf(Fenced)
  })

  it('takes a repeat that arrived late for its own', async () => {
    const feed = await aFeed(1)
    const append: Bus['append'] = async (...args) => {
      await feed.append(feedSubject(market), block)
      return feed.append(...args)
    }
    expect((await publish({ ...feed, append }, 1)).seq).to.equal(2)
  })
})
