import { expect } from 'chai'
import { ChainUnreachable } from '../../chain/reads/client.js'
import { SenderFrozen } from '../../chain/sender/transaction-sender.js'
import { E18, quoteE18 } from '../../core/money.js'
import { JournalUnwritable } from '../../data/journal/journal-file.js'
import {
  createSettlementQueue,
  SHARE_WITHIN_MS,
  type SettlementQueue,
} from '../../executor/settlement-queue.js'
import type { Settlement, SubmitResult } from '../../executor/settlement.js'
import { MAX_WAITING, MAX_WAITING_OF_OWNER } from '../../executor/waiting-room.js'
import { eventually } from '../support/eventually.js'
import { groupRig, type GroupRig } from './group-rig.js'

describe('the queue of settlements', () => {
  let rig: GroupRig
  let queue: SettlementQueue
  let count: number
  let heads: number
  let simulated: string[][]
  /** Held back until it is called. */
  let release: (() => void) | undefined
  let atMs: number
  let readHead: () => Promise<{ blockHash: '0x01'; count: number }>

  beforeEach(() => {
    rig = groupRig()
    count = 10
    heads = 0
    simulated = []
    release = undefined
    atMs = 0
    readHead = () => Promise.resolve({ blockHash: '0x01', count })
    open()
  })
  afterEach(() => queue.stop())

  function open(windowMs = 0, maxGroup = 64, shareBelowFee = 0n, gasTokenPrice = 0n) {
    const deps = rig.deps(3)
    queue = createSettlementQueue({
      ...deps,
      windowMs,
      shareBelowFee: quoteE18(shareBelowFee),
      gasTokenPrice: quoteE18(gasTokenPrice),
      elapsedMs: () => atMs,
      packer: {
        ...deps.packer,
        maxGroup,
        async simulate(head, matches, ahead) {
          simulated.push((matches as readonly Settlement[]).map(({ intentId }) => intentId))
          await new Promise<void>((resolve) =>
            release === undefined ? resolve() : (release = resolve),
          )
          return deps.packer.simulate(head, matches, ahead)
        },
      },
      readHead: () => {
        heads += 1
        return readHead()
      },
    })
  }
  const submit = (intentId: string, accountId = 1n): Promise<SubmitResult> =>
    queue.submit(rig.paying(intentId, accountId, 1n))
  let apart = 1_000n
  /** With a counterparty of its own, so that its order with others does not matter. */
  const submitApart = (intentId: string, accountId: bigint): Promise<SubmitResult> =>
    queue.submit({ ...rig.paying(intentId, accountId, 1n), accountIds: [(apart += 1n)] })
  const hold = () => (release = () => undefined)

  it('sends one alone, and those that come meanwhile together', async () => {
    hold()
    const first = submit('a0')
    await eventually(() => simulated.length === 1)
    const others = [submit('b0', 2n), submit('c0', 3n)]
    expect(queue.waiting()).to.equal(3)
    const go = release
    release = undefined
    go?.()
    const answers = await Promise.all([first, ...others])
    expect(answers.map(({ kind }) => kind)).to.deep.equal(['sent', 'sent', 'sent'])
    expect(simulated).to.deep.equal([['a0'], ['b0', 'c0']])
    expect(queue.waiting()).to.equal(0)
  })

  it('puts no more into a group than the packer takes', async () => {
    open(0, 2)
    await Promise.all(['a0', 'b0', 'c0'].map((id, i) => submit(id, BigInt(i))))
    expect(simulated).to.deep.equal([['a0', 'b0'], ['c0']])
  })

  it('waits for more where it is told to', async () => {
    open(300)
    const first = submit('a0')
    await new Promise((resolve) => setTimeout(resolve, 1))
    const second = submit('b0', 2n)
    await Promise.all([first, second])
    expect(simulated).to.deep.equal([['a0', 'b0']])
  })

  describe('with small settlements', () => {
    beforeEach(() => open(0, 64, 1n))

    it('keeps one back for another of its accounts, and sends both together', async () => {
      const first = submit('a0')
      const other = submit('b0', 2n)
      await eventually(() => heads >= 3)
      expect(simulated).to.deep.equal([])
      const second = submit('c0')
      expect((await Promise.all([first, second])).map(({ kind }) => kind)).to.deep.equal([
        ...['sent', 'sent'],
      ])
      expect(simulated).to.deep.equal([['a0', 'c0']])
      atMs = SHARE_WITHIN_MS
      expect((await other).kind).to.equal('sent')
    })

    it('sends one alone after a block (SET-071)', async () => {
      const alone = submit('a0')
      atMs = SHARE_WITHIN_MS - 1
      await eventually(() => heads >= 3)
      expect(simulated).to.deep.equal([])
      atMs = SHARE_WITHIN_MS
      expect((await alone).kind).to.equal('sent')
    })

    it('holds none back whose fee is not small (SET-071)', async () => {
      open()
      expect((await submit('a0')).kind).to.equal('sent')
      expect(atMs).to.equal(0)
    })
  })

  it('judges what arrived during the read of a block by the next one', async () => {
    const before = readHead
    let second: Promise<SubmitResult> | undefined
    readHead = () => {
      second ??= submit('b0', 2n)
      return before()
    }
    await submit('a0')
    await second
    expect(simulated).to.deep.equal([['a0'], ['b0']])
  })

  it('fills a transaction with those that wait behind the group', async () => {
    open(0, 2)
    rig.maxPacked = 1
    await Promise.all(['a0', 'b0', 'c0'].map((id, i) => submit(id, BigInt(i))))
    expect(simulated).to.deep.equal([
      ['a0', 'b0'],
      ['b0', 'c0'],
    ])
  })

  it('looks again while a settlement waits for the chain, and goes on when that has mined', async () => {
    rig.balance = 0n
    rig.inFlight(4, 10)
    const waiting = submit('a0')
    await eventually(() => heads >= 3)
    expect(simulated).to.deep.equal([])
    count = 14
    expect((await waiting).kind).to.equal('sent')
  })

  for (const error of [
    new ChainUnreachable('no answer'),
    new JournalUnwritable('disk full'),
    new SenderFrozen('leaked'),
  ]) {
    it(`answers all that wait with the reason when it meets ${error.name}`, async () => {
      open(0, 1)
      readHead = () => Promise.reject(error)
      const answers = await Promise.all([submit('a0'), submit('b0', 2n)])
      const unavailable = { kind: 'unavailable', why: error.message }
      expect(answers).to.deep.equal([unavailable, unavailable])
      readHead = () => Promise.resolve({ blockHash: '0x01', count })
      expect((await submit('c0', 3n)).kind).to.equal('sent')
    })
  }

  it('fails the group that breaks an invariant, and settles the others', async () => {
    open(0, 1)
    const { trial } = rig
    rig.trial = (matches) => {
      if (matches[0]?.intentId === 'a0') throw new Error('broken')
      return trial(matches)
    }
    const [broken, sent] = await Promise.all([
      submit('a0').catch((error: unknown) => (error as Error).message),
      submit('b0', 2n),
    ])
    expect(broken).to.equal('broken')
    expect(sent.kind).to.equal('sent')
    expect(simulated).to.deep.equal([['a0'], ['b0']])
  })

  it(`takes ${MAX_WAITING} settlements and no more (SET-069)`, async () => {
    hold()
    const all = [submit('first')]
    await eventually(() => simulated.length === 1)
    for (let n = 1; n < MAX_WAITING; n += 1) all.push(submit(`${n}`, BigInt(n)))
    expect(await submit('too many')).to.deep.equal({
      kind: 'unavailable',
      why: 'too many settlements wait',
    })
    const stopping = queue.stop()
    release?.()
    await stopping
    const [first, ...others] = await Promise.all(all)
    expect(first?.kind).to.equal('sent')
    expect(new Set(others.map(({ kind }) => kind))).to.deep.equal(new Set(['unavailable']))
  })

  it(`takes ${MAX_WAITING_OF_OWNER} settlements of one owner and no more (SET-069)`, async () => {
    hold()
    const all = [submit('first')]
    await eventually(() => simulated.length === 1)
    for (let n = 1; n < MAX_WAITING_OF_OWNER; n += 1) all.push(submit(`${n}`))
    expect(await submit('too many')).to.deep.equal({
      kind: 'unavailable',
      why: 'too many settlements of one owner wait',
    })
    expect(queue.waiting()).to.equal(MAX_WAITING_OF_OWNER)
    all.push(submit('other', 2n))
    expect(queue.waiting()).to.equal(MAX_WAITING_OF_OWNER + 1)
    const stopping = queue.stop()
    release?.()
    await stopping
    await Promise.all(all)
  })

  it('when it is full, makes room for an owner of few by the newest of the owner of most', async () => {
    hold()
    const all = [submit('first')]
    await eventually(() => simulated.length === 1)
    for (let n = 1; n < MAX_WAITING - 3; n += 1) all.push(submit(`${n}`, BigInt(n)))
    const most = [submit('x0', 9_999n), submit('x1', 9_999n), submit('x2', 9_999n)]
    expect(queue.waiting()).to.equal(MAX_WAITING)
    all.push(submit('new', 10_000n))
    const full = { kind: 'unavailable', why: 'too many settlements wait' }
    expect(await most[2]).to.deep.equal(full)
    expect(queue.waiting()).to.equal(MAX_WAITING)
    expect(await submit('another', 10_000n)).to.deep.equal(full)
    const stopping = queue.stop()
    release?.()
    await stopping
    await Promise.all([...all, ...most])
  })

  describe('with an owner of many', () => {
    it('lets another one wait for one of them, in the next group', async () => {
      open(0, 8)
      hold()
      const thousand = Array.from({ length: 1_000 }, (_, n) => submitApart(`a${n}`, 1n))
      await eventually(() => simulated.length === 1)
      const other = submitApart('b0', 2n)
      const go = release
      release = undefined
      go?.()
      expect((await other).kind).to.equal('sent')
      expect(simulated[1]?.indexOf('b0')).to.be.at.most(1)
      await Promise.all(thousand)
    })

    it('adds nothing while two blocks of gas are in flight', async () => {
      const load = { gasLimit: 1_000n }
      rig.deps(3).book.add(10, [], load)
      rig.deps(3).book.add(11, [], load)
      const waiting = submit('a0')
      await eventually(() => heads >= 3)
      expect(simulated).to.deep.equal([])
      count = 11
      expect((await waiting).kind).to.equal('sent')
    })
  })

  describe('with dust', () => {
    /** A match costs 1,500,000 at this price, and the fee of each here is 0. */
    const dusty = () => open(0, 8, 0n, E18)

    it('gives it a tenth while others wait, and all that is left otherwise (SET-070)', async () => {
      rig.fee = (id) => (id === 1n ? 0n : 2_000_000n)
      rig.blockGas = 100_000_000n
      dusty()
      hold()
      const first = submitApart('first', 3n)
      await eventually(() => simulated.length === 1)
      const dust = Array.from({ length: 12 }, (_, n) => submitApart(`d${n}`, 1n))
      const paying = Array.from({ length: 9 }, (_, n) => submitApart(`p${n}`, 2n))
      const go = release
      release = undefined
      go?.()
      await Promise.all([first, ...dust, ...paying])
      expect(simulated.slice(1).map((group) => group.map(([kind]) => kind).join(''))).to.deep.equal(
        [...['ppppdppp', 'ppd', 'dddddddd', 'dd']],
      )
    })
  })

  describe('with dust alone', () => {
    it('has half a block of its gas in flight, as half a million for each', async () => {
      open(0, 8, 0n, E18)
      rig.blockGas = 5_000_000n
      rig.trial = (matches) => ({
        aheadPassed: true,
        verdicts: matches.map(() => ({ kind: 'passes', gas: 500_000n })),
      })
      rig.deps(3).book.add(10, [], { dustGas: 1_000_000n })
      const dust = Array.from({ length: 5 }, (_, n) => submitApart(`d${n}`, 1n))
      await eventually(() => simulated.length === 1)
      expect(simulated).to.deep.equal([['d0', 'd1', 'd2']])
      count = 30
      await Promise.all(dust)
      expect(simulated[1]).to.deep.equal(['d3', 'd4'])
    })
  })

  it('finishes its group when it is stopped, and takes nothing more', async () => {
    hold()
    const first = submit('a0')
    await eventually(() => simulated.length === 1)
    const second = submit('b0', 2n)
    const stopping = queue.stop()
    release?.()
    await stopping
    const stopped = { kind: 'unavailable', why: 'the executor is stopping' }
    expect((await first).kind).to.equal('sent')
    expect(await second).to.deep.equal(stopped)
    expect(await submit('c0', 3n)).to.deep.equal(stopped)
  })
})
