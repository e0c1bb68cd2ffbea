import { expect } from 'chai'
import fc from 'fast-check'
import { decodeBlock, encodeBlock } from '../../bus-schemas/blocks.js'
import { MAX_CLOCK_AHEAD_MS, MAX_COMMANDS_PER_MESSAGE } from '../../bus-schemas/commands.js'
import { MAX_MESSAGE_BYTES } from '../../bus-schemas/envelope.js'
import { commandsSubject } from '../../bus-schemas/subjects.js'
import { InvariantBroken } from '../../core/assert.js'
import type { Block } from '../../core/model/change.js'
import type { LoggedCommand } from '../../core/model/command.js'
import { MalformedMessage } from '../../core/wire/codec.js'
import { anyBlock } from '../support/arbitrary-blocks.js'
import { anOrder } from '../support/builders.js'
import {
  commandsOf,
  decodeCommands,
  encodeCommandGroup,
  encodeCommands,
} from '../support/spot-log.js'

const tick = (sourceNo: number): LoggedCommand => ({
  source: 'matcher',
  sourceNo,
  atMs: 1_700_000_000_000,
  command: { kind: 'Tick' },
})
const LOG = commandsSubject('cNGN-USDC', 'matcher')
const text = (data: Uint8Array): string => Buffer.from(data).toString('utf8')

describe('command messages', () => {
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

  it('do not bring a time far beyond the moment at which they were stored', () => {
    const data = encodeCommands([tick(1), { ...tick(2), atMs: 1_700_000_010_000 }])
    const storedAtMs = 1_700_000_000_000 + MAX_CLOCK_AHEAD_MS - 1
    const ahead: number[] = []
    const onClockAhead = ({ sourceNo }: LoggedCommand) => void ahead.push(sourceNo)
    const commands = commandsOf({ subject: LOG, data, storedAtMs }, { onClockAhead })
    expect(commands.map(({ atMs }) => atMs)).to.deep.equal([1_700_000_000_000, storedAtMs])
    expect(ahead).to.deep.equal([2])
  })

  it('have the form of version 10', () => {
    const order = anOrder()
    const signature = `0x${'5a'.repeat(65)}`
    const placement: LoggedCommand = {
      ...tick(2),
      replyTo: '_INBOX.1',
      requestId: 'r-1',
      command: { kind: 'PlaceOrder', order },
    }
    const data = encodeCommands([tick(1), placement])
    expect(text(data)).to.equal(
      `[10,[["matcher",1,1700000000000,null,null,["Tick"]],["matcher",2,1700000000000,"_INBOX.1","r-1",["PlaceOrder",["order-1","cNGN-USDC","${order.owner}","7","1","buy","153000000000000000000000","0","650000000000000","1950000000000","checked",null,${order.expirySec},null,"${signature}",null,null,null],null]]]]`,
    )
  })
})

describe('the writers of a command log', () => {
  const order = anOrder()
  const placing: LoggedCommand = {
    source: 'intake',
    sourceNo: 1,
    atMs: 1_700_000_000_000,
    command: { kind: 'PlaceOrder', order },
  }
  const take = (subject: string, ...logged: LoggedCommand[]) => {
    const foreign: string[] = []
    const data = encodeCommands(logged)
    const taken = commandsOf(
      { subject, data, storedAtMs: 1_700_000_000_000 },
      { onForeign: ({ command }) => foreign.push(command.kind) },
    )
    return [taken.map(({ command }) => command.kind), foreign]
  }

  it('are believed what is theirs to write, and nothing else', () => {
    const both = [placing, tick(1)]
    const market = 'cNGN-USDC'
    expect(take(commandsSubject(market, 'order-intake'), ...both)).to.deep.equal([
      ['PlaceOrder'],
      ['Tick'],
    ])
    expect(take(commandsSubject(market, 'matcher'), ...both)).to.deep.equal([
      ['Tick'],
      ['PlaceOrder'],
    ])
    for (const other of ['chain-reader', 'gateway', 'constructor'])
      expect(take(commandsSubject(market, other), ...both)).to.deep.equal([
        [],
        ['PlaceOrder', 'Tick'],
      ])
  })

  it('cannot use the numbers of another writer, by which its commands would be skipped', () => {
    const marker: LoggedCommand = { ...tick(9), source: 'intake' }
    expect(take(commandsSubject('cNGN-USDC', 'matcher'), marker)).to.deep.equal([[], ['Tick']])
    expect(take(commandsSubject('cNGN-USDC', 'order-intake'), marker)).to.deep.equal([['Tick'], []])
  })

  it('are all that an operator’s restore stands for', () => {
    expect(take(commandsSubject('cNGN-USDC'), placing, tick(1))).to.deep.equal([
      ['PlaceOrder', 'Tick'],
      [],
    ])
  })
})

describe('block messages', () => {
  it('refuse a gap, an empty block, one with two purposes and a placement that is not its order’s', () => {
    fc.assert(
      fc.property(anyBlock, (block) => {
        const broken = (changed: Block) =>
          expect(() => encodeBlock(changed)).to.throw(InvariantBroken)
        if (block.changes.length > 0) broken({ ...block, firstSeq: block.firstSeq + 1 })
        const { market, commandSeq, commandIndex, firstSeq } = block
        broken({ market, commandSeq, commandIndex, firstSeq, changes: [] })
        broken({ ...block, leader: { term: 1, id: 'm' } })
        const [first] = block.changes
        if (first?.kind !== 'OrderPlaced') return
        broken({ ...block, changes: [{ ...first, orderId: `${first.orderId}x` }] })
      }),
    )
  })

  it('refuse to be read without changes, terms and a leader', () => {
    const empty = Buffer.from('[10,["m",1,0,1,[],null,null]]')
    expect(() => decodeBlock(empty)).to.throw(InvariantBroken)
    const before = Buffer.from('[10,["m",1,0,0,[],null,[1,"m"]]]')
    expect(() => decodeBlock(before)).to.throw(MalformedMessage, 'firstSeq')
  })

  it('have the form of version 10', () => {
    const block: Block = {
      market: 'cNGN-USDC',
      commandSeq: 4,
      commandIndex: 1,
      firstSeq: 9,
      changes: [
        {
          kind: 'OrderHeld',
          seq: 9,
          atMs: 5,
          orderId: 'o',
          owner: `0x${'a'.repeat(40)}`,
          side: 'sell',
          limitPrice: 2n,
          desired: 10n,
          filled: 1n,
          pending: 0n,
          open: 0n,
          openDelta: -9n,
          status: 'active',
          hold: 'expiring',
        } as Block['changes'][number],
      ],
    }
    const written = text(encodeBlock(block))
    expect(written).to.equal(
      `[10,["cNGN-USDC",4,1,9,[["OrderHeld","o","0x${'a'.repeat(40)}","sell","2","10",5,"1","0","0","-9","active","expiring"]],null,null]]`,
    )
    expect(decodeBlock(Buffer.from(written))).to.deep.equal(block)
  })
})
