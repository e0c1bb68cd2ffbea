import { expect } from 'chai'
import fc from 'fast-check'
import {
  followTransaction,
  SENDER_POLICY,
  NO_DOUBT,
  raiseDoubt,
  type ChainView,
  type KnownTransaction,
} from '../../../chain/sender/follow-transaction.js'
import type { MinedReceipt } from '../../../chain/sender/sender-chain.js'
import type { Hex } from '../../../core/action.js'
import { runs } from '../../support/property-runs.js'

const hashOf = (n: number): Hex => `0x${n.toString(16).padStart(64, '0')}`
const OURS = hashOf(1)
const BLOCK = hashOf(2)
const OTHER = hashOf(3)
const where = { hash: OURS, blockNumber: 90n, blockHash: BLOCK }
const receipt: MinedReceipt = { ...where, status: 'success', to: null, logs: [] }
const foreign = { hash: hashOf(9), blockNumber: 90n, blockHash: BLOCK }

const aView = (view: Partial<ChainView> = {}): ChainView => ({
  nowMs: 1_000,
  head: 100n,
  behind: false,
  finalHeight: 88n,
  count: 5,
  blocks: new Map([[90n, BLOCK]]),
  receipts: new Map(),
  ...view,
})
const known = (more: Partial<KnownTransaction> = {}): KnownTransaction => ({
  evmNonce: 4,
  doubt: NO_DOUBT,
  ...more,
})
const follow = (of: KnownTransaction, view: ChainView) => followTransaction(of, view, SENDER_POLICY)
const blockAt90 = (hash: Hex | undefined) => new Map([[90n, hash]])

/** The same view again and again, each late enough to count. */
function followOften(of: KnownTransaction, view: ChainView, times: number) {
  const steps: string[] = []
  let doubt = of.doubt
  for (let n = 0; n < times; n += 1) {
    const nowMs = view.nowMs + n * SENDER_POLICY.doubtEveryMs
    const verdict = follow({ ...of, doubt }, { ...view, nowMs })
    steps.push(verdict.step.kind)
    doubt = verdict.doubt
  }
  return steps
}

describe('what a look at the chain means for a transaction', () => {
  it('waits while the nonce is not used, whatever was doubted before', () => {
    const doubted = known({ evmNonce: 5, doubt: { times: 2, atMs: 0 } })
    expect(follow(doubted, aView())).to.deep.equal({ step: { kind: 'keep' }, doubt: NO_DOUBT })
  })

  it('believes a receipt at once when its block stands (SET-011)', () => {
    const view = aView({ receipts: new Map([[4, receipt]]) })
    expect(follow(known(), view).step).to.deep.equal({ kind: 'mined', receipt })
  })

  it('believes no receipt whose block does not stand (SET-011)', () => {
    const receipts = new Map([[4, receipt]])
    for (const blocks of [blockAt90(OTHER), blockAt90(undefined), new Map()]) {
      expect(followOften(known(), aView({ receipts, blocks }), 9)).to.not.include('mined')
    }
  })

  it('prefers its own receipt to a foreign transaction seen before', () => {
    const view = aView({ receipts: new Map([[4, receipt]]) })
    expect(follow(known({ consumer: foreign }), view).step.kind).to.equal('mined')
  })

  it('searches for what used the nonce after three looks in vain', () => {
    expect(followOften(known(), aView(), 3)).to.deep.equal(['keep', 'keep', 'search'])
  })

  it('keeps what is mined while its block stands, and lets it go when that is final', () => {
    const mined = known({ mined: where })
    expect(follow(mined, aView()).step.kind).to.equal('keep')
    expect(follow(mined, aView({ finalHeight: 89n })).step.kind).to.equal('keep')
    expect(follow(mined, aView({ finalHeight: 90n })).step.kind).to.equal('final')
  })

  it('decides nothing about a block that was not asked about', () => {
    const doubt = { times: 2, atMs: 0 }
    const verdict = follow(known({ mined: where, doubt }), aView({ blocks: new Map() }))
    expect(verdict).to.deep.equal({ step: { kind: 'keep' }, doubt })
  })

  it('opens what is mined again after three looks at another block in its place', () => {
    const view = aView({ blocks: blockAt90(OTHER), finalHeight: 95n })
    expect(followOften(known({ mined: where }), view, 3)).to.deep.equal(['keep', 'keep', 'reopen'])
  })

  it('is more patient with a node that only lacks the block', () => {
    const view = aView({ blocks: blockAt90(undefined) })
    const steps = followOften(known({ mined: where }), view, SENDER_POLICY.absences)
    expect(steps.indexOf('reopen')).to.equal(SENDER_POLICY.absences - 1)
  })

  it('starts to doubt anew when the block is there in between', () => {
    const doubt = { times: 2, atMs: 0 }
    const mined = known({ mined: where, doubt })
    expect(follow(mined, aView()).doubt).to.deep.equal(NO_DOUBT)
  })

  it('frees the intents once the foreign transaction is final, and forgets it when its block is lost', () => {
    const taken = known({ consumer: foreign })
    expect(follow(taken, aView()).step.kind).to.equal('keep')
    expect(follow(taken, aView({ finalHeight: 90n })).step).to.deep.equal({
      kind: 'displaced',
      by: foreign,
    })
    const lost = aView({ blocks: blockAt90(OTHER), finalHeight: 95n })
    expect(followOften(taken, lost, 3)).to.deep.equal(['keep', 'keep', 'forget consumer'])
    const absent = aView({ blocks: blockAt90(undefined) })
    expect(followOften(taken, absent, 3)).to.deep.equal(['keep', 'keep', 'keep'])
  })

  it('counts answers that come close together as one', () => {
    const once = raiseDoubt(NO_DOUBT, 5_000, SENDER_POLICY)
    expect(raiseDoubt(once, 6_999, SENDER_POLICY)).to.deep.equal(once)
    expect(raiseDoubt(once, 7_000, SENDER_POLICY)).to.deep.equal({ times: 2, atMs: 7_000 })
  })

  it('takes nothing back and gives nothing up for one answer, whatever it says', () => {
    const heights = fc.bigInt({ min: 85n, max: 101n })
    const hash = fc.constantFrom(BLOCK, OTHER, undefined)
    const inclusion = fc.record({
      hash: fc.constantFrom(OURS, OTHER),
      blockNumber: heights,
      blockHash: fc.constantFrom(BLOCK, OTHER),
    })
    const views = fc.record({
      nowMs: fc.nat(100_000),
      head: heights,
      behind: fc.boolean(),
      finalHeight: heights,
      count: fc.nat(9),
      blocks: fc.array(fc.tuple(heights, hash)).map((entries) => new Map(entries)),
      receipts: fc.constant(new Map<number, MinedReceipt>()),
    })
    const taken = fc.record({
      evmNonce: fc.nat(9),
      mined: fc.option(inclusion, { nil: undefined }),
      consumer: fc.option(inclusion, { nil: undefined }),
    })
    const property = fc.property(taken, views, (of, view) => {
      const { step, doubt } = follow({ ...of, doubt: NO_DOUBT }, view)
      expect(['keep', 'final', 'displaced']).to.include(step.kind)
      expect(doubt.times).to.be.at.most(1)
      if (step.kind === 'keep') return
      const proof = step.kind === 'displaced' ? step.by : of.mined
      expect(view.blocks.get(proof?.blockNumber ?? 0n)).to.equal(proof?.blockHash)
      expect(proof?.blockNumber).to.satisfy((height: bigint) => height <= view.finalHeight)
    })
    fc.assert(property, { numRuns: runs(1_000) })
  })
})
