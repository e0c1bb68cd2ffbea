import { balanceFacts } from '../../../core/contracts/balances.js'
import { expect } from 'chai'
import type { OrderReply } from '../../../bus-schemas/orders.js'
import { commandsStream } from '../../../bus-schemas/subjects.js'
import type { OrderAdmission } from '../../../actors/order-intake/admission.js'
import { repeatOf } from '../../../actors/order-intake/place-order.js'
import type { Market } from '../../../core/model/market.js'
import type { Refusal } from '../../../core/entry/refusals.js'
import { amountE18, quoteE18 } from '../../../core/money.js'
import { createMemoryBus, type MemoryBus } from '../../../runtime/bus/memory-bus.js'
import type { RunningProcess } from '../../../runtime/process/process.js'
import { aMarket } from '../../support/builders.js'
import { eventually } from '../../support/eventually.js'
import { startFakeMatcher, type FakeMatcher } from '../../support/fake-matcher.js'
import { anIntakeStage, ask, signedBody, type IntakeStage } from '../../support/intake-stage.js'

const otherKey = `0x${'02'.repeat(32)}` as const
const otherOwner = `0x${'99'.repeat(20)}` as const

type OnTaken = Parameters<OrderAdmission['listen']>[0]

describe('order intake', () => {
  let stage: IntakeStage
  let bus: MemoryBus
  let matcher: FakeMatcher
  let intake: RunningProcess

  beforeEach(async () => {
    stage = anIntakeStage()
    bus = createMemoryBus()
    intake = await stage.start(bus)
    matcher = await startFakeMatcher(bus, stage.market.market)
  })

  afterEach(async () => {
    await intake.stop()
    await matcher.stop()
    stage.close()
  })

  const place = (body: unknown): Promise<OrderReply> => ask(bus, 'place', body)
  const cancel = (body: unknown): Promise<OrderReply> => ask(bus, 'cancel', body)
  const refusalOf = (answer: OrderReply): Refusal => {
    if (answer.kind !== 'refused') throw new Error('expected a refusal')
    return answer.refusal
  }

  /** Nothing but the opening and the epoch marker in the log: the same order is still welcome. */
  const expectNothingKept = async (): Promise<void> => {
    expect(await bus.streamState(commandsStream(stage.market.market))).to.include({ lastSeq: 2 })
  }

  it('places an order and lets the matcher answer', async () => {
    const body = await signedBody()
    const answer = await place(body)
    expect(answer).to.include({ kind: 'order', market: 'cNGN-USDC', feed_seq: 1 })
    expect(matcher.taken).to.have.length(1)
    expect(matcher.taken[0]).to.include({ source: 'intake', requestId: 'request-1' })
    const { command } = matcher.taken[0]!
    if (command.kind !== 'PlaceOrder') throw new Error('expected PlaceOrder')
    expect(command.order).to.include({ orderId: body.order_id, signatureStatus: 'checked' })
  })

  it('says of an order that code has signed it, and lets the market answer the repeat of one', async () => {
    const placed = () => matcher.taken.map(({ command }) => command)
    await place(await signedBody())
    Object.assign(stage.chain, { verdict: { kind: 'valid', byCode: true }, hasCode: true })
    const body = await signedBody()
    await place(body)
    const flags = placed().map((each) => each.kind === 'PlaceOrder' && each.order.signedByCode)
    expect(flags).to.deep.equal([undefined, true])
    await place(body)
    const repeat = { kind: 'RepeatOrder', orderId: body.order_id, by: 'order_id' }
    expect(placed().at(-1)).to.deep.equal(repeat)
  })

  it('puts what the account has beside the order, and nothing when that cannot be read', async () => {
    stage.chain.funds = {
      subaccountId: 7n,
      leaving: false,
      facts: balanceFacts({ base: amountE18(5n), quote: quoteE18(6n) }),
      custodyOwner: otherOwner,
      blockNumber: 9n,
      blockTimeSec: 10,
    }
    await place(await signedBody())
    expect(matcher.taken[0]?.command).to.deep.include({ account: stage.chain.funds })
    stage.chain.funds = undefined
    await place(await signedBody())
    expect(matcher.taken[1]?.command).to.have.property('kind', 'PlaceOrder')
    expect(matcher.taken[1]?.command).not.to.have.property('account')
  })

  const refusedBodies: [string, (body: Record<string, unknown>) => unknown, string][] = [
    ['text that is not JSON', () => '{"order_id":', 'invalid JSON body'],
    ['an array', () => [], 'invalid JSON body'],
    ['no order_id', (body) => ({ ...body, order_id: '' }), 'order_id is required'],
    ['a past expiry', (body) => ({ ...body, expiry: 1 }), 'expiry must be in the future'],
    [
      'another subaccount',
      (body) => ({ ...body, subaccount_id: '8', recipient_id: '8' }),
      'action_json.subaccount_id must match subaccount_id',
    ],
  ]
  for (const [what, change, message] of refusedBodies) {
    it(`refuses ${what} and keeps nothing (ORD-026)`, async () => {
      const answer = await place(change({ ...(await signedBody()) }))
      expect(refusalOf(answer)).to.include({ status: 400, message })
      await expectNothingKept()
    })
  }

  it('refuses an account outside custody, then one of another owner (ORD-069, ORD-070)', async () => {
    const body = await signedBody()
    stage.chain.inCustody = false
    expect(refusalOf(await place(body)).message).to.equal(
      'subaccount_id 7 is not deposited in matching custody',
    )
    stage.chain.inCustody = true
    stage.chain.owner = otherOwner
    expect(refusalOf(await place(body)).message).to.equal(
      'subaccount_id 7 is not owned by owner_address',
    )
    await expectNothingKept()
  })

  it('takes a session key only while it is registered (AUT-018)', async () => {
    const owner = otherOwner
    stage.chain.owner = owner
    const body = await signedBody({ privateKey: otherKey, owner })
    for (const expired of [0n, BigInt(Math.floor(Date.now() / 1000))]) {
      stage.chain.keyExpirySec = expired
      expect(refusalOf(await place(body)).code).to.equal('signer_not_authorized')
    }
    await expectNothingKept()
    const endsSec = Math.floor(Date.now() / 1000) + 60
    stage.chain.keyExpirySec = BigInt(endsSec)
    const answer = await place(body)
    expect(answer.kind === 'order' && answer.order.signatureStatus).to.equal('checked')
    const kinds = () => matcher.taken.map(({ command }) => command)
    await eventually(() => expect(kinds()).to.have.length(2))
    const { orderId } = answer.kind === 'order' ? answer.order : { orderId: '' }
    expect(kinds()[1]).to.deep.equal({ kind: 'SessionKeyObserved', orderId, endsSec })
  })

  it('keeps an order hidden whose session key is in its last seconds (AUT-021)', async () => {
    const owner = otherOwner
    stage.chain.owner = owner
    stage.chain.keyExpirySec = BigInt(Math.floor(Date.now() / 1000)) + 9n
    const answer = await place(await signedBody({ privateKey: otherKey, owner }))
    expect(answer.kind === 'order' && answer.order.signatureStatus).to.equal('unchecked')
  })

  it('refuses a signature that does not authorize the action, saying what it recovered (AUT-009)', async () => {
    stage.chain.verdict = { kind: 'invalid', digest: '0xd1', recovered: otherOwner, path: 'ecdsa' }
    const body = await signedBody()
    expect(refusalOf(await place(body))).to.deep.include({
      status: 400,
      message: 'signature does not authorize this action',
      detail: {
        digest: '0xd1',
        domain: { name: 'Matching' },
        recovered: otherOwner,
        expected: body.signer_address.toLowerCase(),
      },
    })
    await expectNothingKept()
  })

  it('judges custody before the signature (ORD-027)', async () => {
    stage.chain.inCustody = false
    stage.chain.verdict = { kind: 'invalid', digest: '0xd1', path: 'ecdsa' }
    expect(refusalOf(await place(await signedBody())).code).to.equal('subaccount_not_in_custody')
  })

  it('takes an order unchecked while the chain cannot be read (AUT-010, ORD-071)', async () => {
    stage.chain.readable = false
    stage.chain.verdict = { kind: 'unknown', cause: new Error('rpc down') }
    const owned = await signedBody()
    expect((await place(owned)).kind).to.equal('order')
    // A good signature of a key that is not registered proves nothing about the owner.
    stage.chain.verdict = { kind: 'valid', byCode: false }
    expect(
      (await place(await signedBody({ privateKey: otherKey, owner: otherOwner }))).kind,
    ).to.equal('order')
    expect((await place(await signedBody())).kind).to.equal('order')
    const statuses = matcher.taken.map(({ command }) =>
      command.kind === 'PlaceOrder' ? command.order.signatureStatus : command.kind,
    )
    expect(statuses).to.deep.equal(['unchecked', 'unchecked', 'checked'])
  })

  it('answers a repeat at once, whatever else has become wrong with it since (ORD-022)', async () => {
    const body = await signedBody()
    await place(body)
    stage.chain.inCustody = false
    expect(refusalOf(await place({ ...body, expiry: 1 }))).to.include({
      status: 409,
      message: 'duplicate order: order_id already used',
      existingOrderId: body.order_id,
    })
    expect(matcher.taken).to.have.length(1)
  })

  it('says of a repeat by when its market had decided the first, once the matcher has told', async () => {
    await intake.stop()
    let tell: OnTaken = () => undefined
    const admission = {
      trouble: () => undefined,
      listen: (listener: OnTaken) => void (tell = listener),
    }
    intake = await stage.start(bus, { admission })
    const { market } = stage.market
    const body = await signedBody()
    await place(body)
    const { lastSeq: streamSeq } = await bus.streamState(commandsStream(market))
    const lastNo = matcher.taken.at(-1)?.sourceNo ?? 0
    const repeat = async () => refusalOf(await place(body))
    expect(await repeat()).not.to.have.property('decided')
    tell(market, { streamSeq: streamSeq - 1, lastNo: lastNo - 1, feedSeq: 4 })
    expect(await repeat()).not.to.have.property('decided')
    tell(market, { streamSeq, lastNo, feedSeq: 5 })
    expect(await repeat()).to.deep.include({ status: 409, decided: { market, seq: 5 } })
    // A matcher that starts again has taken less than its feed holds.
    tell(market, { streamSeq: streamSeq - 1, lastNo: lastNo - 1, feedSeq: 4 })
    expect(await repeat()).to.deep.include({ decided: { market, seq: 5 } })
    const second = await signedBody()
    await place(second)
    expect(refusalOf(await place(second))).not.to.have.property('decided')
    expect(await repeat()).to.deep.include({ decided: { market, seq: 5 } })
    expect(
      refusalOf(await place(await signedBody({ orderId: body.order_id }))),
    ).not.to.have.any.keys('decided', 'existingOrderId')
  })

  it('lets the market answer the repeat of a post-only order, behind the first', async () => {
    const body = { ...(await signedBody()), post_only: 'reject' }
    await place(body)
    stage.chain.inCustody = false
    const code = 'post_only_would_cross'
    expect(refusalOf(await place(body))).to.include({ status: 422, code })
    const asAnother = { ...body, order_id: 'another' }
    expect(refusalOf(await place(asAnother))).to.include({ status: 422, code })
    const { order_id: orderId } = body
    expect(matcher.taken.slice(1).map(({ command }) => command)).to.deep.equal([
      { kind: 'RepeatOrder', orderId, by: 'order_id' },
      { kind: 'RepeatOrder', orderId, by: 'nonce' },
    ])
    expect(refusalOf(await place({ ...body, post_only: undefined })).status).to.equal(409)
  })

  it('lets a market that limits live orders answer the repeat of any order (MAT-014)', () => {
    const fingerprint = Buffer.from('signed')
    const owner = `0x${'a'.repeat(40)}` as const
    const holder = { orderId: 'o1', owner, nonce: 1n, market: stage.market.market, fingerprint }
    const repeatIn = (market: Market) =>
      repeatOf([market], { by: 'order_id', holder, fingerprint }, false).repeat
    expect(repeatIn(stage.market)).to.equal(undefined)
    // Also one that limits them no more: the order may have come before.
    for (const openOrderLimit of [3, 0]) {
      expect(repeatIn(aMarket({ openOrderLimit }))?.command).to.deep.equal({
        kind: 'RepeatOrder',
        orderId: 'o1',
        by: 'order_id',
      })
    }
  })

  it('judges a different order with a taken id or nonce last, and does not show the other (ORD-023)', async () => {
    const taken = await signedBody()
    await place(taken)
    const sameId = await signedBody({ orderId: taken.order_id })
    expect(refusalOf(await place({ ...sameId, expiry: 1 })).message).to.equal(
      'expiry must be in the future',
    )
    expect(refusalOf(await place(sameId))).to.deep.equal({
      code: 'duplicate_order_id',
      status: 409,
      message: 'duplicate order: order_id already used',
      field: 'order_id',
      detail: { held_by: 'another_order' },
    })
    const sameNonce = await signedBody({ nonce: BigInt(taken.nonce), amount: '1000' })
    expect(refusalOf(await place(sameNonce))).to.include({
      status: 409,
      message: 'duplicate order: nonce already used',
    })
    expect(refusalOf(await place(sameNonce))).not.to.have.property('existingOrderId')
    expect(matcher.taken).to.have.length(1)
  })

  it('gives one of a thousand identical submissions the order, all others a 409 (ORD-024)', async () => {
    const body = await signedBody()
    const answers = await Promise.all(Array.from({ length: 1_000 }, () => place(body)))
    const placed = answers.filter(({ kind }) => kind === 'order')
    const repeats = answers.flatMap((a) => (a.kind === 'refused' ? [a.refusal] : []))
    expect(placed).to.have.length(1)
    expect(repeats).to.have.length(999)
    for (const refusal of repeats) {
      expect(refusal).to.include({ status: 409, existingOrderId: body.order_id })
    }
    expect(matcher.taken).to.have.length(1)
  })

  it('keeps id and nonce taken after a cancel (ORD-017)', async () => {
    const body = await signedBody()
    await place(body)
    await cancel({ owner_address: body.owner_address, nonce: body.nonce })
    expect(refusalOf(await place(body)).status).to.equal(409)
  })

  it('sends a cancel through the log, with its reason', async () => {
    const body = await signedBody()
    await place(body)
    const answer = await cancel({ owner_address: body.owner_address, nonce: body.nonce })
    expect(answer).to.deep.include({ kind: 'order', feed_seq: 2 })
    await cancel({ owner_address: body.owner_address, nonce: body.nonce, reason: 'moved' })
    const reasons = matcher.taken.flatMap(({ command }) =>
      command.kind === 'CancelOrder' ? [command.reason] : [],
    )
    expect(reasons).to.deep.equal(['unspecified', 'moved'])
    const numbers = matcher.taken.map(({ sourceNo }) => sourceNo)
    expect(numbers).to.deep.equal([0, 1, 2].map((more) => (numbers[0] ?? 0) + more))
  })

  it('refuses cancels that name nothing, and service-tagged ones of protected orders', async () => {
    const body = await signedBody()
    const smoke = await signedBody({ orderId: 'smoke:1' })
    await place(body)
    await place(smoke)
    const { owner_address, nonce } = smoke
    const cases: [unknown, number, string][] = [
      [{ nonce }, 400, 'owner_address is required'],
      [{ owner_address }, 400, 'nonce is required'],
      [{ owner_address: 'me', nonce }, 400, 'owner_address must be 0x followed by 40 hex digits'],
      [{ owner_address, nonce: '999999' }, 404, 'active order not found'],
      [{ owner_address: otherOwner, nonce }, 404, 'active order not found'],
      [
        { owner_address, nonce, service: 'sweeper' },
        403,
        'service-tagged cancels are not allowed for protected namespace "smoke:"',
      ],
    ]
    for (const [request, status, message] of cases) {
      expect(refusalOf(await cancel(request))).to.include({ status, message })
    }
    expect(matcher.taken).to.have.length(2)
    const tagged = { owner_address, nonce: body.nonce, service: 'sweeper' }
    expect((await cancel(tagged)).kind).to.equal('order')
    expect((await cancel({ owner_address, nonce })).kind).to.equal('order')
  })
})
