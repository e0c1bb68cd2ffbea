import { expect } from 'chai'
import fc from 'fast-check'
import { InvariantBroken } from '../../core/assert.js'
import type { Block } from '../../core/change.js'
import type { LoggedCommand } from '../../core/command.js'
import { decodeBlock, encodeBlock } from '../../bus-schemas/block-message.js'
import {
  MAX_COMMANDS_PER_MESSAGE,
  decodeCommands,
  encodeCommandGroup,
  encodeCommands,
} from '../../bus-schemas/command-message.js'
import {
  type OrderAnswer,
  decodeOrderAnswer,
  decodeOrderRequest,
  encodeOrderAnswer,
  encodeOrderRequest,
} from '../../bus-schemas/order-requests.js'
import {
  orderFromText,
  orderFromWire,
  orderJson,
  orderText,
  progressFromWire,
  progressJson,
} from '../../bus-schemas/order-wire.js'
import { decodePingAnswer, encodePingAnswer } from '../../bus-schemas/ping.js'
import { MAX_MESSAGE_BYTES, MalformedMessage } from '../../bus-schemas/wire.js'
import {
  anyBlock,
  anyLoggedCommand,
  anyOrder,
  anyProgress,
  anyText,
} from '../support/arbitraries.js'

const text = (data: Uint8Array): string => Buffer.from(data).toString('utf8')
const bytes = (json: string): Uint8Array => Buffer.from(json, 'utf8')

/** The same value with the keys of every object set in the opposite order. */
function reversedKeys<T>(value: T): T {
  if (Array.isArray(value)) return value.map(reversedKeys) as T
  if (typeof value !== 'object' || value === null) return value
  const entries = Object.entries(value).reverse()
  return Object.fromEntries(entries.map(([key, inner]) => [key, reversedKeys(inner)])) as T
}

const commandGroups = fc.array(anyLoggedCommand, { minLength: 1, maxLength: 5 })
const tick = (sourceNo: number): LoggedCommand => ({
  source: 'matcher',
  sourceNo,
  atMs: 1_700_000_000_000,
  command: { kind: 'Tick' },
})

describe('wire form of orders', () => {
  it('gives the order back after a trip through its text', () => {
    fc.assert(
      fc.property(anyOrder(), (order) => {
        expect(orderFromText(orderText(order))).to.deep.equal(order)
      }),
    )
  })

  it('gives the progress back after a trip through JSON', () => {
    fc.assert(
      fc.property(anyProgress, (progress) => {
        const wire: unknown = JSON.parse(progressJson(progress))
        expect(progressFromWire(wire)).to.deep.equal(progress)
      }),
    )
  })

  const [order] = fc.sample(anyOrder(), { numRuns: 1, seed: 1 })
  const { statement } = order!
  for (const amount of ['01', '-1', '1.5', '1e3', ' 1', '', '0x1', '9'.repeat(79)]) {
    it(`refuses ${JSON.stringify(amount)} as an amount`, () => {
      const wire = { ...(JSON.parse(orderJson(order!)) as object), desired_amount: amount }
      expect(() => orderFromWire(wire, { statement: () => statement })).to.throw(MalformedMessage)
    })
  }

  it('refuses a text that is not terms and a statement', () => {
    const terms = orderJson(order!)
    for (const bad of [terms, `${terms}\n`, `${terms}\n{}`, `${terms}\n${statement} `]) {
      expect(() => orderFromText(bad), bad).to.throw(MalformedMessage)
    }
  })
})

describe('command messages', () => {
  it('give every kind of command back', () => {
    fc.assert(
      fc.property(commandGroups, (commands) => {
        expect(decodeCommands(encodeCommands(commands))).to.deep.equal(commands)
      }),
    )
  })

  it('have the same bytes for equal commands', () => {
    fc.assert(
      fc.property(commandGroups, (commands) => {
        expect(text(encodeCommands(reversedKeys(commands)))).to.equal(
          text(encodeCommands(commands)),
        )
      }),
    )
  })

  it('take as many of a long queue as one message holds', () => {
    const queue = Array.from({ length: MAX_COMMANDS_PER_MESSAGE + 1 }, (_, n) => tick(n + 1))
    const { data, count } = encodeCommandGroup(queue)
    expect(count).to.equal(MAX_COMMANDS_PER_MESSAGE)
    expect(decodeCommands(data)).to.deep.equal(queue.slice(0, count))
    expect(() => encodeCommands(queue)).to.throw(InvariantBroken)
  })

  it('never exceed the size that a message may have', () => {
    const big = (sourceNo: number): LoggedCommand => ({
      ...tick(sourceNo),
      requestId: 'é'.repeat(200_000),
    })
    const queue = [big(1), big(2), big(3), big(4)]
    const { data, count } = encodeCommandGroup(queue)
    expect(count).to.equal(2)
    expect(data.length).to.be.lessThan(MAX_MESSAGE_BYTES)
    expect(decodeCommands(data)).to.deep.equal(queue.slice(0, 2))
  })

  it('refuse an empty group and a command that no message can hold', () => {
    expect(() => encodeCommands([])).to.throw(InvariantBroken)
    const huge = { ...tick(1), requestId: 'x'.repeat(MAX_MESSAGE_BYTES) }
    expect(() => encodeCommandGroup([huge])).to.throw(InvariantBroken)
  })
})

describe('block messages', () => {
  it('give every kind of change back', () => {
    fc.assert(
      fc.property(anyBlock, (block) => {
        expect(decodeBlock(encodeBlock(block))).to.deep.equal(block)
      }),
    )
  })

  it('have the same bytes for equal blocks', () => {
    fc.assert(
      fc.property(anyBlock, (block) => {
        expect(text(encodeBlock(reversedKeys(block)))).to.equal(text(encodeBlock(block)))
      }),
    )
  })

  it('name the matcher that takes over, without a change beside it', () => {
    fc.assert(
      fc.property(anyBlock, fc.nat(), anyText, (block, term, id) => {
        const takeOver: Block = { ...block, changes: [], leader: { term, id } }
        expect(decodeBlock(encodeBlock(takeOver))).to.deep.equal(takeOver)
        const both = { ...block, leader: { term, id } }
        expect(() => encodeBlock(both)).to.throw(InvariantBroken)
      }),
    )
  })

  it('refuse a gap, an empty block and a placement that is not its order’s', () => {
    fc.assert(
      fc.property(anyBlock, (block) => {
        const shifted: Block = { ...block, firstSeq: block.firstSeq + 1 }
        expect(() => encodeBlock(shifted)).to.throw(InvariantBroken)
        expect(() => encodeBlock({ ...block, changes: [] })).to.throw(InvariantBroken)
        const [first] = block.changes
        if (first?.kind !== 'OrderPlaced') return
        const wrong = { ...first, orderId: `${first.orderId}x` }
        expect(() => encodeBlock({ ...block, changes: [wrong] })).to.throw(InvariantBroken)
      }),
    )
  })
})

describe('order requests and answers', () => {
  it('carry the body as it came', () => {
    fc.assert(
      fc.property(anyText, anyText, anyText, (request_id, body, service_auth) => {
        for (const request of [
          { request_id, body },
          { request_id, body, service_auth },
        ]) {
          expect(decodeOrderRequest(encodeOrderRequest(request))).to.deep.equal(request)
          const inBytes = { ...request, body: Buffer.from(body) }
          expect(decodeOrderRequest(encodeOrderRequest(inBytes))).to.deep.equal(request)
        }
      }),
    )
  })

  it('give an order answer back', () => {
    fc.assert(
      fc.property(anyOrder(), anyProgress, fc.nat(), (order, progress, feed_seq) => {
        const answer: OrderAnswer = {
          kind: 'order',
          feed_seq,
          market: order.market,
          order,
          progress,
        }
        expect(decodeOrderAnswer(encodeOrderAnswer(answer))).to.deep.equal(answer)
      }),
    )
  })

  it('give a refusal back, with and without its optional fields', () => {
    const bare = { code: 'unknown_market', status: 400, message: 'no such market' }
    const full = { ...bare, field: 'nonce', detail: { digest: '0x1' }, existingOrderId: 'o-1' }
    for (const refusal of [bare, full]) {
      const answer: OrderAnswer = { kind: 'refused', refusal }
      expect(decodeOrderAnswer(encodeOrderAnswer(answer))).to.deep.equal(answer)
    }
  })

  it('give a ping answer back', () => {
    const answer = { process: 'p', ready: false, detail: 'replaying', positions: { feed_seq: 7 } }
    expect(decodePingAnswer(encodePingAnswer(answer))).to.deep.equal(answer)
  })
})

describe('reading what was not written by this build', () => {
  const decoders = {
    decodeCommands,
    decodeBlock,
    decodeOrderRequest,
    decodeOrderAnswer,
    decodePingAnswer,
  }
  for (const [name, decode] of Object.entries(decoders)) {
    it(`${name} stops at an unknown version and names it`, () => {
      expect(() => decode(bytes('{"v":1,"commands":[]}'))).to.throw(InvariantBroken, 'version 1')
    })

    it(`${name} refuses what is not its message`, () => {
      for (const bad of ['', 'nonsense', 'null', '[]', '{}', '{"v":2}', '{"v":2,"surplus":true}']) {
        expect(() => decode(bytes(bad)), bad).to.throw(MalformedMessage)
      }
      expect(() => decode(Uint8Array.of(0x22, 0xff, 0x22))).to.throw(MalformedMessage)
    })
  }

  it('refuses a field it does not know inside a known version', () => {
    const altered = text(encodeCommands([tick(1)])).replace('"Tick"', '"Tick","at":1')
    expect(() => decodeCommands(bytes(altered))).to.throw(MalformedMessage)
  })
})
