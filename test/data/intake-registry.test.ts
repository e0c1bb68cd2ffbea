import Sqlite from 'better-sqlite3'
import { expect } from 'chai'
import { cpSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { MAX_MESSAGE_BYTES } from '../../bus-schemas/envelope.js'
import {
  MAX_RECENT_CLAIMS,
  openIntakeRegistry,
  type IntakeRegistry,
  type LogEntry,
} from '../../data/intake-registry.js'
import { decodeClaims, encodeClaims } from '../../data/recent-claims.js'
import { anOrder } from '../support/builders.js'
import { decodeCommands } from '../support/spot-log.js'

const market = 'cNGN-USDC'
const other = 'other-market'
const inLog = (name: string) => ({ market: name, contractType: 'spot' }) as const

function placing(number: number, orderId = `order-${number}`): LogEntry {
  const order = anOrder({ orderId, nonce: 10n ** 70n + BigInt(number) })
  const { owner, nonce } = order
  const fingerprint = Buffer.alloc(32, number % 251)
  return {
    command: { kind: 'PlaceOrder', order },
    claim: { orderId, owner, nonce, fingerprint },
    replyTo: 'no-inbox',
    requestId: `request-${number}`,
  }
}
const { owner } = anOrder()
const cancelling: LogEntry = {
  command: { kind: 'CancelOrder', owner, nonce: 1n, reason: 'unspecified' },
}

describe('the registry of order intake', () => {
  let directory: string
  let registry: IntakeRegistry
  const open = (folder = directory) => openIntakeRegistry(join(folder, 'intake.db'))

  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'registry-'))
    registry = open()
  })
  afterEach(() => {
    registry.close()
    rmSync(directory, { recursive: true })
  })

  let published = 0
  beforeEach(() => (published = 0))
  const commit = (entries: readonly LogEntry[], into = market) => {
    const { outcomes, message } = registry.commit(inLog(into), entries, 5)
    return { kinds: outcomes.map((each) => (each.kind === 'taken' ? each.by : each.kind)), message }
  }
  /** Stores a message and lets the stream hold it. */
  const publish = (entries: readonly LogEntry[], into = market): void => {
    const { message } = commit(entries, into)
    published += 1
    registry.markPublished(into, { streamSeq: published, lastNo: message?.lastNo ?? 0 })
  }
  /** What a process finds that starts after this one was killed at this moment. */
  const afterKill = <T>(look: (successor: IntakeRegistry) => T): T => {
    const copy = mkdtempSync(join(tmpdir(), 'registry-'))
    cpSync(directory, copy, { recursive: true })
    const successor = open(copy)
    try {
      return look(successor)
    } finally {
      successor.close()
      rmSync(copy, { recursive: true })
    }
  }
  const rows = (): number => {
    registry.close()
    const db = new Sqlite(join(directory, 'intake.db'), { readonly: true })
    const [taken, outbox] = ['taken_order', 'outbox'].map((table) =>
      db.prepare<[], number>(`SELECT count(*) FROM ${table}`).pluck().get(),
    )
    db.close()
    registry = open()
    expect(outbox).to.equal(0)
    return taken ?? -1
  }

  it('tells who holds an id or a nonce, from the moment of the claim and for ever', () => {
    const { claim } = placing(1)
    const expectTaken = (by: Pick<IntakeRegistry, 'findOrder' | 'findNonce'>): void => {
      const holder = { orderId: 'order-1', market, fingerprint: Buffer.alloc(32, 1) }
      expect(by.findOrder('order-1')).to.deep.equal(holder)
      expect(by.findNonce(owner, claim!.nonce)).to.deep.equal(holder)
    }
    expect(registry.findOrder('order-1')).to.equal(undefined)
    expect(registry.findNonce(owner, claim!.nonce)).to.equal(undefined)
    commit([placing(1)])
    expectTaken(registry)
    afterKill(expectTaken)
    registry.markPublished(market, { streamSeq: 1, lastNo: 1 })
    expectTaken(registry)
    afterKill(expectTaken)
    expect(rows()).to.equal(1)
    expectTaken(registry)
  })

  it('gives nothing away twice, wherever the first claim is kept', () => {
    const sameNonce = {
      ...placing(1, 'another'),
      claim: { ...placing(1).claim!, orderId: 'another' },
    }
    const again = [placing(1), sameNonce, placing(2), placing(2)]
    expect(commit(again.slice(1)).kinds).to.deep.equal(['logged', 'logged', 'order_id'])
    expect(commit(again).kinds).to.deep.equal(['nonce', 'order_id', 'order_id', 'order_id'])
    afterKill((successor) => {
      const { outcomes, message } = successor.commit(inLog(other), again, 6)
      expect(outcomes.map(({ kind }) => kind)).to.deep.equal(Array(4).fill('taken'))
      expect(message).to.equal(undefined)
    })
    registry.markPublished(market, { streamSeq: 1, lastNo: 2 })
    expect(rows()).to.equal(2)
    expect(commit(again, other).kinds).to.deep.equal(['nonce', 'order_id', 'order_id', 'order_id'])
  })

  it('gives nothing away twice that was found free before it was claimed and moved', () => {
    const { claim } = placing(1)
    expect(registry.findOrder('order-1')).to.equal(undefined)
    expect(registry.findNonce(owner, claim!.nonce)).to.equal(undefined)
    publish([placing(1)])
    for (let at = 0; at < 300; at += 1) publish([cancelling])
    const sameNonce = { ...placing(1), claim: { ...claim!, orderId: 'another' } }
    expect(commit([placing(1), sameNonce], other).kinds).to.deep.equal(['order_id', 'nonce'])
  })

  it('moves claims into their table as they gather, and counts on', () => {
    const perMessage = 100
    const messages = Math.ceil((2.5 * MAX_RECENT_CLAIMS) / perMessage)
    for (let at = 0; at < messages; at += 1) {
      publish(Array.from({ length: perMessage }, (_, index) => placing(at * perMessage + index)))
    }
    const count = messages * perMessage
    afterKill((successor) => {
      expect(successor.lastNo()).to.equal(count)
      const known = successor.published(market)
      expect(known.streamSeq).to.be.within(1, messages - 1)
      expect(known.lastNo).to.equal(known.streamSeq * perMessage)
      // What the stream holds and this file was not told of last stays at hand until the stream was asked.
      expect(successor.outbox(market)).to.have.length(messages - known.streamSeq)
      for (const number of [0, perMessage, count - 1]) {
        expect(successor.findOrder(`order-${number}`)).to.include({ orderId: `order-${number}` })
      }
    })
    expect(registry.outbox(market)).to.deep.equal([])
    expect(rows()).to.equal(count)
    expect(registry.lastNo()).to.equal(count)
    expect(registry.published(market)).to.deep.equal({ streamSeq: messages, lastNo: count })
  })

  it('lets go of published messages that claim nothing', () => {
    for (let at = 0; at < 300; at += 1) publish([cancelling])
    afterKill((successor) => {
      expect(successor.outbox(market).length).to.be.below(100)
      expect(successor.lastNo()).to.equal(300)
    })
  })

  it('keeps what a market has not published, and its number', () => {
    publish([placing(1)])
    commit([placing(2)], other)
    publish([placing(3)])
    registry.close()
    registry = open()
    expect(registry.lastNo()).to.equal(3)
    expect(registry.outbox(market)).to.deep.equal([])
    const [kept, ...more] = registry.outbox(other)
    expect(more).to.deep.equal([])
    expect(kept?.lastNo).to.equal(2)
    expect(decodeCommands(kept!.payload)[0]).to.include({ source: 'intake', sourceNo: 2, atMs: 5 })
    expect(commit([placing(2), placing(4)]).kinds).to.deep.equal(['order_id', 'logged'])
    expect(registry.lastNo()).to.equal(4)
  })

  it('takes nothing when the message cannot be stored', () => {
    const signature = `0x${'5a'.repeat(MAX_MESSAGE_BYTES / 2)}` as const
    const { command, ...entry } = placing(1)
    if (command.kind !== 'PlaceOrder') throw new Error('expected an order')
    const tooLong = { ...entry, command: { ...command, order: { ...command.order, signature } } }
    expect(() => commit([placing(2), tooLong])).to.throw()
    expect(registry.lastNo()).to.equal(0)
    expect(registry.outbox(market)).to.deep.equal([])
    expect(commit([placing(1), placing(2)]).kinds).to.deep.equal(['logged', 'logged'])
  })

  it('writes claims as text and reads them back', () => {
    const claims = [placing(1, 'a "quoted" \\ id ✓').claim!, placing(2).claim!]
    expect(decodeClaims(encodeClaims(claims))).to.deep.equal(claims)
    expect(decodeClaims('[]')).to.deep.equal([])
  })
})
