import { expect } from 'chai'
import { feedTopic } from '../../../actors/ws-fanout/channels.js'
import type { ClientConnection } from '../../../actors/ws-fanout/connection.js'
import { SESSION_LIMITS } from '../../../actors/ws-fanout/limits.js'
import { openMarketFeed } from '../../../actors/ws-fanout/market-feed.js'
import { createReplayer } from '../../../actors/ws-fanout/replay.js'
import { createTopicSubscriptions } from '../../../actors/ws-fanout/subscriptions.js'
import type { Change } from '../../../core/model/change.js'
import { createMemoryBus } from '../../../runtime/bus/memory-bus.js'
import { aMarket } from '../../support/builders.js'
import { declareFeed, publishChanges } from '../../support/fan-out-rig.js'
import type { Frame } from '../../support/socket-client.js'
import { alice, historyOfTwo } from '../../support/two-owners.js'

/** What may happen around one subscription; `turn` lets the event loop go round. */
const EVENTS = ['subscribe', 'resume', 'leave', 'change', 'turn'] as const
type Event = (typeof EVENTS)[number]
const LONGEST = 6
/** More than the book of these tests ever holds. */
const MOST_ORDERS = 100

const market = aMarket()
const CHANGES = historyOfTwo(4)

/** Every sequence of so many events. */
function* sequences(length: number): Generator<readonly Event[]> {
  if (length === 0) yield []
  else for (const rest of sequences(length - 1)) for (const event of EVENTS) yield [event, ...rest]
}

/** Whether a sequence shows what no other one shows. */
function isOfItsOwn(events: readonly Event[]): boolean {
  // Before the first client only a change matters, and one of it is enough. A resumption without a sequence is a subscription.
  const [first, second] = events
  if (first !== 'subscribe' && !(first === 'change' && second === 'subscribe')) return false
  // The event loop goes round after the last event anyway, and who has left cannot leave again.
  return (
    events.at(-1) !== 'turn' &&
    !events.some((event, at) => event === 'leave' && events[at - 1] === 'leave')
  )
}

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

/** A connection whose client reads everything at once. */
function recorder() {
  const frames: Frame[] = []
  const read = (bytes: Buffer): void => {
    for (let at = 0; at < bytes.length;) {
      const short = (bytes[at + 1] ?? 0) & 0x7f
      const start = at + (short === 126 ? 4 : short === 127 ? 10 : 2)
      const length =
        short === 126
          ? bytes.readUInt16BE(at + 2)
          : short === 127
            ? Number(bytes.readBigUInt64BE(at + 2))
            : short
      frames.push(JSON.parse(bytes.subarray(start, start + length).toString()) as Frame)
      at = start + length
    }
  }
  const connection: ClientConnection = {
    isOpen: () => true,
    send: (text) => frames.push(JSON.parse(text) as Frame),
    deliver: read,
    writeBulk: (parts) => {
      read(Buffer.concat(parts))
      return Promise.resolve(true)
    },
    pause: () => undefined,
    resume: () => undefined,
    close: () => undefined,
  }
  return { frames, connection }
}

const topics = {
  book: { topic: { channel: 'book' }, concerns: () => true },
  orders: {
    topic: { channel: 'orders', owner: alice },
    concerns: ({ owner }: Change) => owner === alice,
  },
} as const

interface Sizes {
  readonly ringChanges: number
  /** Larger books are rendered over several turns. */
  readonly snapshotOrdersPerTurn: number
}

/** Plays one sequence; throws when a client that believes what it is sent ends wrong. */
async function play(
  events: readonly Event[],
  { topic, concerns }: (typeof topics)[keyof typeof topics],
  { ringChanges, snapshotOrdersPerTurn }: Sizes,
): Promise<void> {
  const bus = createMemoryBus()
  await declareFeed(bus, market.market)
  await publishChanges(bus, market.market, CHANGES.slice(0, 2), 1)
  const failures: Error[] = []
  const onFailure = (error: Error) => failures.push(error)
  const limits = { ...SESSION_LIMITS, snapshotOrdersPerTurn }
  const feed = await openMarketFeed({ bus, market, ringChanges, limits, onFailure })
  while (feed.headSeq() < 2) await turn()
  const { frames, connection } = recorder()
  const subscriptions = createTopicSubscriptions(connection, createReplayer(bus))
  let published = 2
  let applied: number | undefined
  let isFollowing = false
  let seen = 0

  /** Takes what has arrived since it was last looked, as a client does. */
  function apply(): void {
    for (const { type, seq = 0, prev_seq = 0 } of frames.slice(seen)) {
      if (!isFollowing) throw new Error(`${type} ${seq} after leaving`)
      if (type === 'snapshot') applied = seq
      else {
        if (applied === undefined) throw new Error(`${type} ${seq} before a snapshot`)
        if (seq <= applied) throw new Error(`${seq} came again after ${applied}`)
        const missed = CHANGES.slice(applied, seq - 1).filter(concerns)
        if (missed.length > 0 || prev_seq > applied) throw new Error(`${seq} after ${applied}`)
        applied = seq
      }
    }
    seen = frames.length
  }

  function follow(sinceSeq: number | undefined): void {
    const request = { subscription: 's', sinceSeq, reqId: undefined }
    const wasFollowing = isFollowing
    isFollowing = true
    subscriptions.add(feedTopic(feed, topic), request)
    const isAtOnce = snapshotOrdersPerTurn > MOST_ORDERS && sinceSeq === undefined
    if (!wasFollowing && isAtOnce) expect(frames.length).to.be.greaterThan(seen)
  }

  for (const event of events) {
    if (event === 'subscribe') follow(undefined)
    else if (event === 'resume') follow(applied)
    else if (event === 'leave') {
      subscriptions.leave('s')
      apply()
      isFollowing = false
    } else if (event === 'change') {
      await publishChanges(bus, market.market, CHANGES.slice(published, published + 2), 2)
      published += 2
    } else await turn()
    apply()
  }
  while (feed.headSeq() < published) await turn()
  for (let n = 0; n < (snapshotOrdersPerTurn > MOST_ORDERS ? 4 : 24); n++) await turn()
  apply()
  if (isFollowing) {
    const missed = CHANGES.slice(applied ?? 0, published).filter(concerns)
    expect(missed.map(({ seq }) => seq)).to.deep.equal([])
  }
  expect(failures).to.deep.equal([])
  await feed.stop()
}

describe('ws-fanout interleavings', function () {
  /** Plays every sequence up to a length; resolves with how many. */
  async function playAll(
    kind: (typeof topics)[keyof typeof topics],
    sizes: Sizes,
    longest: number,
  ) {
    let played = 0
    for (let length = 1; length <= longest; length++) {
      for (const events of sequences(length)) {
        if (!isOfItsOwn(events)) continue
        played += 1
        await play(events, kind, sizes).catch((cause: unknown) => {
          throw new Error(`${events.join(' ')}: ${String(cause)}`, { cause })
        })
      }
    }
    return played
  }

  for (const [name, kind] of Object.entries(topics)) {
    for (const ringChanges of [1_024, 1]) {
      const from = ringChanges === 1 ? 'the stream' : 'memory'
      it(`of up to ${LONGEST} events lose and repeat nothing of ${name}, resumed from ${from}`, async () => {
        const sizes = { ringChanges, snapshotOrdersPerTurn: MOST_ORDERS + 1 }
        expect(await playAll(kind, sizes, LONGEST)).to.be.greaterThan(3_000)
      })
    }
  }

  for (const ringChanges of [1_024, 1]) {
    const from = ringChanges === 1 ? 'the stream' : 'memory'
    it(`of up to 5 events lose and repeat nothing of a large book, continued from ${from}`, async () => {
      const sizes = { ringChanges, snapshotOrdersPerTurn: 1 }
      expect(await playAll(topics.book, sizes, 5)).to.be.greaterThan(600)
    })
  }
})
