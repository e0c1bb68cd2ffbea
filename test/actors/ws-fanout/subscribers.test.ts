import { expect } from 'chai'
import fc from 'fast-check'
import { frameOf, type ChangeFrames, type Topic } from '../../../actors/ws-fanout/server-frames.js'
import { priceE18 } from '../../../core/money.js'
import { createSubscribers, type Subscriber } from '../../../actors/ws-fanout/subscribers.js'

const owners = [`0x${'a1'.repeat(20)}`, `0x${'b0'.repeat(20)}`, `0x${'c0'.repeat(20)}`] as const

const change = (seq: number, owner: (typeof owners)[number]): ChangeFrames => ({
  seq,
  owner,
  level: { side: 'buy', limitPrice: priceE18(1n), openDelta: 0n },
  book: Buffer.from(`b${seq} `),
  trades: seq % 3 === 0 ? Buffer.from(`t${seq} `) : undefined,
  orders: Buffer.from(`o${seq} `),
})

type Step =
  | { readonly kind: 'publish'; readonly owner: number }
  | { readonly kind: 'turn' }
  | {
      readonly kind: 'add' | 'remove'
      readonly who: number
      readonly channel: 'book' | 'trades' | 'orders'
    }

const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({ kind: fc.constant('publish' as const), owner: fc.nat({ max: 2 }) }),
  fc.constant({ kind: 'turn' as const }),
  fc.record({
    kind: fc.constantFrom('add' as const, 'remove' as const),
    who: fc.nat({ max: 4 }),
    channel: fc.constantFrom('book' as const, 'trades' as const, 'orders' as const),
  }),
)

describe('subscribers', () => {
  it('delivers every frame of its topics to each subscriber, once and in order', () =>
    fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 60, size: 'max' }), async (steps) => {
        const subscribers = createSubscribers()
        const got: string[] = ['', '', '', '', '']
        const expected: string[] = ['', '', '', '', '']
        const clients: Subscriber[] = got.map((_, who) => ({
          deliver: (frames) => (got[who] += frames.toString()),
        }))
        const follows = got.map(() => new Set<Topic['channel']>())
        // More clients than owners, so that some follow the orders of the same one.
        const topic = (channel: Topic['channel'], who: number): Topic =>
          channel === 'orders' ? { channel, owner: owners[who % 3] ?? owners[0] } : { channel }
        let seq = 0
        for (const next of steps) {
          if (next.kind === 'turn') {
            await new Promise((resolve) => setImmediate(resolve))
          } else if (next.kind === 'publish') {
            const frames = change((seq += 1), owners[next.owner] ?? owners[0])
            subscribers.publish(frames)
            for (const [who, channels] of follows.entries()) {
              for (const channel of ['book', 'trades', 'orders'] as const) {
                if (!channels.has(channel)) continue
                expected[who] += frameOf(topic(channel, who), frames)?.toString() ?? ''
              }
            }
          } else {
            const { kind, who, channel } = next
            subscribers[kind](topic(channel, who), clients[who] as Subscriber)
            follows[who]?.[kind === 'add' ? 'add' : 'delete'](channel)
          }
        }
        await new Promise((resolve) => setImmediate(resolve))
        expect(got).to.deep.equal(expected)
      }),
    ))
})
