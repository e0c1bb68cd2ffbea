import { expect } from 'chai'
import { createIntake, MAX_IN_FLIGHT } from '../../../actors/order-intake/intake.js'
import { createOrderWatch } from '../../../actors/order-intake/order-watch.js'
import { createUnderWay } from '../../../actors/order-intake/under-way.js'
import { decodePingAnswer } from '../../../bus-schemas/operations.js'
import { decodeOrderAnswer, encodeOrderRequest } from '../../../bus-schemas/orders.js'
import { askPing } from '../../../bus-schemas/subjects.js'
import type { SignatureVerifier } from '../../../chain/signing/verify-signature.js'
import { DiskTrouble } from '../../../data/disk-trouble.js'
import { openIntakeRegistry } from '../../../data/intake-registry.js'
import { AlreadyLocked } from '../../../data/open.js'
import { AppendRefused } from '../../../runtime/bus/bus.js'
import { createMemoryBus } from '../../../runtime/bus/memory-bus.js'
import { eventually } from '../../support/eventually.js'
import { startFakeMatcher } from '../../support/fake-matcher.js'
import { anIntakeStage, ask, signedBody, silentLog } from '../../support/intake-stage.js'

/** As long as the gateway waits. */
const CALLER_WAITS_MS = 3_000

const hangingVerifier: SignatureVerifier = {
  digest: () => '0x',
  cancelDigest: () => '0x',
  cancelAllDigest: () => '0x',
  hasCode: () => new Promise(() => undefined),
  verify: () => new Promise(() => undefined),
  verifyDigest: () => new Promise(() => undefined),
}

describe('bounds of order intake', () => {
  it('refuses requests beyond what it can hold in the making, without looking at them (OPE-026)', async () => {
    const stage = anIntakeStage()
    const answers: Uint8Array[] = []
    const intake = createIntake({
      bus: { reply: (_to, data) => void answers.push(data) },
      registry: stage.registry(),
      commandLogs: new Map(),
      halts: {
        refusalOf: () => undefined,
        cancelRefusalOf: () => undefined,
        stop: () => undefined,
      },
      underWay: createUnderWay(),
      watch: createOrderWatch(() => '0x'),
      markets: [stage.market],
      accounts: {
        readAccount: () => new Promise(() => undefined),
        readSessionKeyExpiry: () => new Promise(() => undefined),
      },
      funds: {
        readFunds: () => new Promise(() => undefined),
        readNewer: () => new Promise(() => undefined),
      },
      chainMarkets: { readMarket: () => Promise.resolve(undefined) },
      verifier: hangingVerifier,
      domain: {},
      protectedPrefixes: [],
      cancelAuth: 'open',
      readFrame: () => ({ reason: 'no frames here', isMalformed: true }),
      nowMs: Date.now,
      log: silentLog,
    })
    const body = JSON.stringify(await signedBody())
    const request = encodeOrderRequest({ request_id: 'r', body })
    const waiting = Array.from({ length: MAX_IN_FLIGHT }, () => intake.place(request, 'inbox'))
    expect(answers).to.have.length(0)
    await intake.place(request, 'inbox')
    expect(answers.map(decodeOrderAnswer)).to.deep.equal([
      {
        kind: 'refused',
        refusal: {
          code: 'overloaded',
          status: 500,
          message: 'too many requests are waiting: nothing was placed, safe to retry',
        },
      },
    ])
    await Promise.all(waiting)
    stage.close()
  })

  it('takes an order unchecked when the chain hangs, well before its caller gives up', async () => {
    const stage = anIntakeStage()
    const bus = createMemoryBus()
    const intake = await stage.start(bus, {
      accounts: {
        readAccount: () => new Promise(() => undefined),
        readSessionKeyExpiry: () => new Promise(() => undefined),
      },
      verifier: hangingVerifier,
    })
    const matcher = await startFakeMatcher(bus, stage.market.market)
    const answer = await ask(bus, 'place', await signedBody(), { timeoutMs: CALLER_WAITS_MS })
    if (answer.kind !== 'order') throw new Error('expected an order')
    expect(answer.order.signatureStatus).to.equal('unchecked')
    await intake.stop()
    await matcher.stop()
    stage.close()
  })

  it('answers a repeat 409 once the first, which is on its way, is in the log', async () => {
    const stage = anIntakeStage()
    const bus = createMemoryBus()
    let release: () => void = () => undefined
    const released = new Promise<void>((resolve) => (release = resolve))
    let isHeld = false
    const append: typeof bus.append = async (...args) => {
      if (isHeld) await released
      return bus.append(...args)
    }
    const intake = await stage.start({ ...bus, append })
    isHeld = true
    const matcher = await startFakeMatcher(bus, stage.market.market)
    const body = await signedBody()
    const first = ask(bus, 'place', body)
    await eventually(() => stage.registry().findOrder(body.order_id) !== undefined)
    let answered = 0
    const repeating = ask(bus, 'place', body).finally(() => (answered += 1))
    const other = await signedBody({ orderId: body.order_id })
    const refusing = ask(bus, 'place', other).finally(() => (answered += 1))
    for (let turn = 0; turn < 50; turn += 1) await new Promise(setImmediate)
    expect(answered).to.equal(0)
    expect(matcher.taken).to.have.length(0)
    release()
    const repeat = await repeating
    if (repeat.kind !== 'refused') throw new Error('expected a refusal')
    expect(repeat.refusal).to.include({ status: 409, existingOrderId: body.order_id })
    expect((await first).kind).to.equal('order')
    expect(await refusing).to.have.property('kind', 'refused')
    await intake.stop()
    await matcher.stop()
    stage.close()
  })

  it('answers 500 and lives on when its registry fails', async () => {
    const stage = anIntakeStage()
    const bus = createMemoryBus()
    let broken = true
    const failIfBroken = (): void => {
      if (broken) throw new DiskTrouble('disk full')
    }
    const registry = stage.registry()
    const intake = await stage.start(bus, {
      registry: {
        ...registry,
        findNonce: (...key) => (failIfBroken(), registry.findNonce(...key)),
        take: (...claim) => (failIfBroken(), registry.take(...claim)),
        findOrder: () => undefined,
      },
    })
    const matcher = await startFakeMatcher(bus, stage.market.market)
    const body = await signedBody()
    const cancel = { owner_address: body.owner_address, nonce: body.nonce }
    const placing = await ask(bus, 'place', body)
    const cancelling = await ask(bus, 'cancel', cancel)
    if (placing.kind !== 'refused' || cancelling.kind !== 'refused') throw new Error('not refused')
    expect(placing.refusal).to.include({ status: 500, code: 'outcome_unknown' })
    expect(cancelling.refusal).to.include({
      status: 500,
      message: 'failed to resolve cancel target',
    })
    broken = false
    expect((await ask(bus, 'place', body)).kind).to.equal('order')
    await intake.stop()
    await matcher.stop()
    stage.close()
  })

  it('says in its ping that it cannot append', async () => {
    const stage = anIntakeStage()
    const bus = createMemoryBus()
    let broken = false
    const intake = await stage.start({
      ...bus,
      append: (...args) =>
        broken ? Promise.reject(new AppendRefused('no space')) : bus.append(...args),
    })
    const ping = async () =>
      decodePingAnswer(await bus.ask(askPing('order-intake'), new Uint8Array(), 1_000))
    expect(await ping()).to.deep.include({ ready: true })
    broken = true
    const placing = ask(bus, 'place', await signedBody(), { timeoutMs: 500 }).catch(() => undefined)
    await eventually(async () => !(await ping()).ready)
    expect(await ping()).to.include({ detail: 'no space' })
    broken = false
    await eventually(async () => (await ping()).ready)
    await intake.stop()
    await placing
    stage.close()
  })

  it('lets no other process write the registry while it is open', () => {
    const stage = anIntakeStage()
    stage.registry()
    expect(() => openIntakeRegistry(`${stage.directory}/intake.db`)).to.throw(AlreadyLocked)
    stage.close()
  })
})
