import { expect } from 'chai'
import { setImmediate as turn } from 'node:timers/promises'
import type { Trader } from '../../support/devnet-world.js'
import { depositBody, TEN, type DepositTerms } from './requests.js'
import {
  approve,
  freshOwner,
  PURSE,
  recordIn,
  refusalIn,
  startDeposits,
  transferStage,
  type TestSubmitter,
  type TransferStage,
} from './stage.js'

const MINUTE_MS = 60_000

describe('limits of deposits', () => {
  let stage: TransferStage
  let deposits: TestSubmitter
  let owner: Trader
  let aheadMs = 0
  const nowMs = () => Date.now() + aheadMs

  before(async function () {
    stage = await transferStage()
  })
  beforeEach(async () => {
    aheadMs = 0
    deposits = await startDeposits(stage, { nowMs })
    owner = await freshOwner(stage)
    await approve(stage, owner.address, PURSE)
  })
  afterEach(() => deposits.end())

  /** A deposit that is good for half an hour of the submitter's clock. */
  const body = (terms: DepositTerms = {}, overrides = {}) =>
    depositBody(stage.world, owner, terms, {
      expiry: BigInt(Math.floor(nowMs() / 1_000) + 1_800),
      ...overrides,
    })
  /** One that the chain refuses, with a signature that holds. */
  const tooMuch = () => body({ amount: PURSE + 1n })
  const wrong = () => body({}, { signedBy: stage.world.bob.account })

  async function restart(): Promise<void> {
    await deposits.stop()
    const { dataDir, privateKey } = deposits
    deposits = await startDeposits(stage, { dataDir, privateKey, nowMs })
  }

  it('three requests a minute, across a restart (TRA-032)', async () => {
    for (let i = 0; i < 3; i += 1) {
      expect(refusalIn(await deposits.ask(await tooMuch())).status).to.equal(400)
    }
    for (const again of [() => Promise.resolve(), restart]) {
      await again()
      const fourth = refusalIn(await deposits.ask(await body()))
      expect(fourth).to.include({ status: 429, code: 'too_many_deposit_requests' })
      expect(fourth.retryAfterSec).to.be.within(1, 60)
    }
    aheadMs += MINUTE_MS
    expect(recordIn(await deposits.ask(await body())).status).to.equal('confirmed')
  })

  it('six submitted deposits an hour, with the time to wait, across a restart (TRA-033)', async function () {
    for (let i = 0; i < 6; i += 1) {
      aheadMs += MINUTE_MS / 2
      expect(recordIn(await deposits.ask(await body())).status).to.equal('confirmed')
    }
    aheadMs += MINUTE_MS
    for (const again of [() => Promise.resolve(), restart]) {
      await again()
      const seventh = refusalIn(await deposits.ask(await body()))
      expect(seventh).to.include({ status: 429, code: 'too_many_deposits' })
      expect(seventh.retryAfterSec).to.be.within(40 * 60, 60 * 60)
    }
    const waited = 60 * MINUTE_MS
    aheadMs += waited
    expect(recordIn(await deposits.ask(await body())).status).to.equal('confirmed')
  })

  it('counts toward the hour only what was submitted (TRA-034)', async () => {
    for (let i = 0; i < 7; i += 1) {
      aheadMs += MINUTE_MS / 2
      expect(refusalIn(await deposits.ask(await tooMuch())).status).to.equal(400)
    }
    aheadMs += MINUTE_MS
    expect(recordIn(await deposits.ask(await body())).status).to.equal('confirmed')
  })

  it('one at a time, whichever request it came with (TRA-015)', async () => {
    const { client } = stage.world
    await client.setAutomine(false)
    try {
      const first = await body()
      const running = deposits.ask(first)
      const one = recordIn(await askUntilKnown(first))
      const second = refusalIn(await deposits.ask(await body()))
      expect(second).to.include({ status: 429, code: 'deposit_in_progress' })
      await client.mine({ blocks: 1 })
      expect(recordIn(await running)).to.include({ status: 'confirmed', txHash: one.txHash })
    } finally {
      await client.setAutomine(true)
    }
    expect(recordIn(await deposits.ask(await body())).status).to.equal('confirmed')
  })

  /** A repeat while the first request is under way. */
  async function askUntilKnown(request: Awaited<ReturnType<typeof body>>) {
    for (;;) {
      const answer = await deposits.ask(request)
      if (recordIn(answer).txHash !== undefined) return answer
      // The transaction needs turns of the event loop, and the answer takes none.
      await turn()
    }
  }

  it('wrong signatures count against their network address and never against the owner (TRA-014)', async () => {
    const from = '198.51.100.7'
    for (let i = 0; i < 3; i += 1) {
      expect(refusalIn(await deposits.ask(await wrong(), from)).status).to.equal(401)
    }
    expect(refusalIn(await deposits.ask(await wrong(), from)).status).to.equal(429)
    expect(refusalIn(await deposits.ask(await wrong(), '198.51.100.8')).status).to.equal(401)
    // The owner is served, even from the very address that the other client uses.
    expect(recordIn(await deposits.ask(await body(), from)).status).to.equal('confirmed')
    expect(refusalIn(await deposits.ask(await tooMuch(), from)).status).to.equal(400)
    expect(refusalIn(await deposits.ask(await tooMuch(), from)).status).to.equal(400)
    expect(refusalIn(await deposits.ask(await tooMuch(), from)).status).to.equal(429)
  })

  it('an expiry at the edge is judged by the later of our clock and the newest block (TRA-005)', async () => {
    const { client } = stage.world
    const { timestamp } = await client.getBlock()
    const ahead = timestamp + 40n
    await client.setNextBlockTimestamp({ timestamp: ahead })
    await client.mine({ blocks: 1 })
    const expired = await body({}, { expiry: ahead })
    expect(refusalIn(await deposits.ask(expired)).code).to.equal('action_expired')
    const good = await body({}, { expiry: ahead + 30n })
    expect(recordIn(await deposits.ask(good)).status).to.equal('confirmed')
    const amount = TEN
    const far = await body({ amount }, { expiry: ahead + 3_700n })
    expect(refusalIn(await deposits.ask(far)).code).to.equal('action_expiry_too_far')
  })
})
