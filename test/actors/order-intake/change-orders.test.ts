import { expect } from 'chai'
import type { OrderReply } from '../../../bus-schemas/orders.js'
import { amountE18, E18 } from '../../../core/money.js'
import { createMemoryBus, type MemoryBus } from '../../../runtime/bus/memory-bus.js'
import type { RunningProcess } from '../../../runtime/process/process.js'
import type { OrderBody } from '../../support/builders.js'
import { startFakeMatcher, type FakeMatcher } from '../../support/fake-matcher.js'
import { anIntakeStage, ask, signedBody, type IntakeStage } from '../../support/intake-stage.js'

describe('replacements and reductions at the intake', () => {
  let stage: IntakeStage
  let bus: MemoryBus
  let matcher: FakeMatcher
  let intake: RunningProcess
  let first: OrderBody

  beforeEach(async () => {
    stage = anIntakeStage()
    bus = createMemoryBus()
    intake = await stage.start(bus)
    matcher = await startFakeMatcher(bus, stage.market.market)
    first = await signedBody()
    await ask(bus, 'place', first)
  })

  afterEach(async () => {
    await intake.stop()
    await matcher.stop()
    stage.close()
  })

  /** `taken`, or status and text of the refusal, after which the log has nothing more than before. */
  async function outcomeOf(asking: () => Promise<OrderReply>): Promise<string> {
    const before = matcher.taken.length
    const answer = await asking()
    if (answer.kind === 'order') return 'taken'
    expect(matcher.taken).to.have.length(before)
    return `${answer.refusal.status} ${answer.refusal.code}`
  }
  const replace = (body: object) => ask(bus, 'replace', body)
  const reduce = (body: object) => ask(bus, 'reduce', body)
  const inPlaceOf = (nonce: unknown, body: OrderBody) => ({ ...body, replaces_nonce: nonce })

  const soonSec = () => Math.floor(Date.now() / 1_000) + 3_600

  it('logs one placement that names the order that leaves', async () => {
    const second = await signedBody({ expirySec: soonSec() })
    const answer = await replace(inPlaceOf(first.nonce, second))
    if (answer.kind !== 'order') throw new Error(answer.refusal.message)
    expect(answer.order.orderId).to.equal(second.order_id)
    expect(answer.replaced?.order.orderId).to.equal(first.order_id)
    const { command } = matcher.taken.at(-1)!
    if (command.kind !== 'PlaceOrder') throw new Error(command.kind)
    expect(command.replaces).to.equal(BigInt(first.nonce))
    expect(command.order).not.to.have.any.keys('warnings', 'replaces')
  })

  it('refuses one whose other order was never placed, and keeps nothing of it', async () => {
    const second = await signedBody()
    const unknown = inPlaceOf('987654321', second)
    expect(await outcomeOf(() => replace(unknown))).to.equal('404 active_order_not_found')
    expect(await outcomeOf(() => replace(inPlaceOf(first.nonce, second)))).to.equal('taken')
  })

  it('refuses one whose signature could not be checked: it may not end another order (CAN-045)', async () => {
    stage.chain.verdict = { kind: 'unknown', cause: new Error('no answer') }
    const second = inPlaceOf(first.nonce, await signedBody())
    expect(await outcomeOf(() => replace(second))).to.equal('500 replacement_unchecked')
    stage.chain.verdict = { kind: 'valid', byCode: false }
    expect(await outcomeOf(() => replace(second))).to.equal('taken')
  })

  it('passes a repeat on to the market, which may have refused the first', async () => {
    const second = inPlaceOf(first.nonce, await signedBody())
    await replace(second)
    await replace(second)
    expect(matcher.taken.at(-1)?.command).to.include({
      kind: 'RepeatOrder',
      orderId: second.order_id,
      by: 'order_id',
    })
  })

  it('does not replace by an order that is placed the usual way, and warns of it', async () => {
    const usual = await signedBody({ expirySec: soonSec() })
    await ask(bus, 'place', inPlaceOf(first.nonce, usual))
    const { command } = matcher.taken.at(-1)!
    if (command.kind !== 'PlaceOrder') throw new Error(command.kind)
    expect(command).not.to.have.property('replaces')
    expect(command.order.warnings).to.deep.equal(['ignored_field:replaces_nonce'])
  })

  it('keeps service-tagged replacements and reductions out of protected namespaces (CAN-014)', async () => {
    const guarded = await signedBody({ orderId: 'smoke:1' })
    await ask(bus, 'place', guarded)
    const { owner_address, nonce } = guarded
    const second = { ...inPlaceOf(nonce, await signedBody()), service: 'bot' }
    expect(await outcomeOf(() => replace(second))).to.equal('403 protected_namespace')
    const reduction = { owner_address, nonce, desired_amount: '0', service: 'bot' }
    expect(await outcomeOf(() => reduce(reduction))).to.equal('403 protected_namespace')
  })

  it('logs a reduction with its amount, by the steps of the market', async () => {
    const { owner_address, nonce } = first
    const to = (desired_amount: string) => ({ owner_address, nonce, desired_amount })
    expect(await outcomeOf(() => reduce(to('2.5')))).to.equal('taken')
    expect(matcher.taken.at(-1)?.command).to.deep.include({
      kind: 'ReduceOrder',
      nonce: BigInt(nonce),
      reason: 'unspecified',
      desired: amountE18((5n * E18) / 2n),
    })
    expect(await outcomeOf(() => reduce(to('2.0000005')))).to.equal('400 invalid_amount_step')
    expect(await outcomeOf(() => reduce(to('0.0000001')))).to.equal('400 size_below_minimum')
    expect(await outcomeOf(() => reduce(to('0')))).to.equal('taken')
    const unknown = { ...to('0'), nonce: '987654321' }
    expect(await outcomeOf(() => reduce(unknown))).to.equal('404 active_order_not_found')
  })
})
