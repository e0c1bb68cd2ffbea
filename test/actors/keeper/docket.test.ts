import { expect } from 'chai'
import { Docket } from '../../../actors/keeper/docket.js'
import { SeenHead, UnreadContracts } from '../../../actors/keeper/unread.js'
import { intentFrom, intentOf } from '../../../actors/keeper/intent.js'
import { JOBS, type Duty } from '../../../core/contracts/upkeep.js'

const start: Duty<string> = { job: 'auction_start', subject: 'account-7', task: 'start' }
const funding: Duty<string> = { job: 'funding', subject: 'funding', sinceSec: 90, task: 'touch' }
const none = () => false

describe("the keeper's docket", () => {
  let docket: Docket<string>
  beforeEach(() => {
    docket = new Docket()
  })
  const ready = () => docket.ready(none).map(({ job }) => job)

  it('gives what is due, the nearest to its bound first, without what is busy', () => {
    docket.observe('perp', [start, { ...funding, sinceSec: 200 }], 200)
    expect(ready()).to.deep.equal(['funding', 'auction_start'])
    docket.observe('perp', [start, funding], 110)
    expect(docket.ready(({ subject }) => subject === 'funding')).to.deep.equal([
      { ...start, scope: 'perp' },
    ])
    docket.observe('perp', [], 111)
    expect(ready()).to.deep.equal([])
  })

  it('gives what is done once for a market before what is late for accounts', () => {
    const accounts = Array.from({ length: 64 }, (_, i) => ({ ...start, subject: `account-${i}` }))
    docket.observe('perp', [...accounts, { ...funding, sinceSec: 1_000 }], 100)
    docket.passed(1_000)
    expect(ready().slice(0, 2)).to.deep.equal(['funding', 'auction_start'])
  })

  it('tries what was not tried yet, and then what was tried longest ago, so that nothing hides another', () => {
    const accounts = Array.from({ length: 70 }, (_, i) => ({ ...start, subject: `account-${i}` }))
    docket.observe('perp', accounts, 100)
    const seen = new Set<string>()
    for (let block = 0; block < 2; block += 1) {
      for (const duty of docket.ready(none).slice(0, 64)) {
        seen.add(duty.subject)
        docket.refused(duty, 'DA_NotWhitelistedManager')
      }
    }
    expect(seen.size).to.equal(70)
    const newcomer = { ...start, subject: 'account-99' }
    docket.observe('perp', [...accounts, newcomer], 101)
    expect(docket.ready(none)[0]?.subject).to.equal('account-99')
  })

  it('keeps the duties of other contracts', () => {
    docket.observe('one', [start], 100)
    docket.observe('other', [start], 101)
    docket.observe('one', [], 102)
    expect(docket.ready(none)).to.deep.equal([{ ...start, scope: 'other' }])
  })

  it('says what is late, by when it became due or was first seen, and why', () => {
    docket.observe('perp', [start, funding], 100)
    const lateAt = (atSec: number) => {
      docket.observe('perp', [start, funding], atSec)
      return docket.late()
    }
    expect(lateAt(90 + JOBS.funding)).to.deep.equal([])
    expect(lateAt(91 + JOBS.funding)).to.deep.equal([
      { job: 'funding', sinceSec: JOBS.funding + 1 },
    ])
    docket.refused({ ...start, scope: 'perp' }, 'BLF_DataTooOld')
    expect(lateAt(101 + JOBS.auction_start)).to.deep.include({
      job: 'auction_start',
      sinceSec: JOBS.auction_start + 1,
      why: 'BLF_DataTooOld',
    })
    docket.observe('perp', [], 1_000)
    expect(lateAt(1_001)).to.deep.equal([{ job: 'funding', sinceSec: 1_001 - 90 }])
  })

  it('lets what it knows age where the contracts cannot be read again', () => {
    docket.observe('perp', [start], 100)
    docket.passed(101 + JOBS.auction_start)
    expect(docket.late().map(({ job }) => job)).to.deep.equal(['auction_start'])
  })

  it('tries what was refused at once, and what reverted after a rest that doubles to ten minutes', () => {
    const duty = { ...start, scope: 'perp' }
    const observe = (atSec: number) => docket.observe('perp', [start], atSec)
    observe(100)
    docket.refused(duty, 'BLF_DataTooOld')
    expect(ready()).to.deep.equal(['auction_start'])
    for (const rest of [10, 20, 40, 80, 160, 320, 600, 600]) {
      observe(100_000)
      docket.failed(duty, 'DA_AuctionAlreadyStarted')
      observe(100_000 + rest - 1)
      expect(ready(), `${rest}`).to.deep.equal([])
      observe(100_000 + rest)
      expect(ready(), `${rest}`).to.deep.equal(['auction_start'])
    }
  })

  it('lets what is still due after a success rest, and not what became due anew', () => {
    const variation = { ...start, job: 'variation', scope: 'perp' } as const
    const closeOut = { ...start, job: 'close_out', scope: 'perp' } as const
    const observe = (atSec: number) => docket.observe('perp', [variation, closeOut], atSec)
    observe(100)
    for (const duty of [variation, closeOut]) {
      docket.sent(duty)
      docket.succeeded(duty)
    }
    expect(ready()).to.deep.equal([])
    observe(110)
    expect(ready()).to.deep.equal(['close_out'])
    observe(399)
    expect(ready()).to.deep.equal(['close_out'])
    observe(400)
    expect(ready()).to.deep.equal(['variation', 'close_out'])
    docket.sent(variation)
    docket.observe('perp', [], 401)
    docket.observe('perp', [variation], 402)
    docket.succeeded(variation)
    expect(ready()).to.deep.equal(['variation'])
    // The blocks between, at which it was not due, were not looked at.
    docket.observe('perp', [funding], 402)
    docket.sent({ ...funding, scope: 'perp' })
    docket.observe('perp', [{ ...funding, sinceSec: 400 }], 403)
    docket.succeeded({ ...funding, scope: 'perp' })
    expect(ready()).to.deep.equal(['funding'])
  })

  it('goes on at once with the next list of a job that one call does not finish', () => {
    const lists = [['1'], ['2'], ['3']]
    for (const task of lists) {
      const settle = { ...start, job: 'variation', task: task.join(), scope: 'perp' } as const
      docket.observe('perp', [settle], 100)
      expect(ready(), settle.task).to.deep.equal(['variation'])
      docket.sent(settle)
      const next = { ...settle, task: 'another' } as const
      docket.observe('perp', [next], 100)
      docket.succeeded(next)
    }
    expect(ready()).to.deep.equal(['variation'])
  })

  it('names its transactions so that they can be told from any other', () => {
    const intent = { scope: '0xa-0xb', subject: 'account-7', job: 'auction_end', blockNumber: 12n }
    const id = intentOf({ ...intent, job: 'auction_end' })
    expect(intentFrom(id)).to.deep.equal(intent)
    for (const other of ['deposit:0xab', `${id}/1`, id.replace('auction_end', 'toString'), ''])
      expect(intentFrom(other), other).to.equal(undefined)
  })
})

describe('what a keeper cannot read', () => {
  it('is told once, and is trouble after a time until it can be read', () => {
    const told: string[] = []
    let nowMs = 0
    const unread = new UnreadContracts({ unreadable: (what) => told.push(what) }, () => nowMs)
    unread.failed('cNGN-PERP', new Error('no answer', { cause: new Error('reverted') }))
    unread.failed('the chain', new Error('no answer'))
    nowMs = 10_000
    unread.failed('cNGN-PERP', new Error('no answer'))
    expect(told).to.deep.equal(['cNGN-PERP', 'the chain'])
    expect(unread.trouble(10_000)).to.equal(undefined)
    nowMs = 10_001
    expect(unread.trouble(10_000)).to.equal(
      'cNGN-PERP has not been readable for 10 s (no answer: reverted)',
    )
    unread.answered('cNGN-PERP')
    expect(unread.trouble(10_000)).to.match(/^the chain /)
    unread.answered('the chain')
    expect(unread.trouble(10_000)).to.equal(undefined)
    unread.failed('cNGN-PERP', new Error('no answer'))
    expect(told).to.have.length(3)
  })
})

describe('the newest block of a keeper', () => {
  it('is trouble when no other comes for a minute and a half', () => {
    let nowMs = 0
    const seen = new SeenHead(() => nowMs)
    expect(seen.number).to.equal(undefined)
    nowMs = 90_001
    expect(seen.trouble()).to.equal('the node has shown no block for 90 s')
    seen.seen({ hash: '0xa', number: 7n }, false)
    expect(seen.trouble()).to.equal(undefined)
    nowMs = 180_000
    seen.seen({ hash: '0xa', number: 7n }, false)
    expect(seen.trouble()).to.equal(undefined)
    nowMs = 180_002
    expect(seen.trouble()).to.equal('the node has shown only block 7 for 90 s')
    seen.seen({ hash: '0xb', number: 7n }, false)
    expect(seen.trouble()).to.equal(undefined)
    expect(seen.number).to.equal(7n)
  })
})
