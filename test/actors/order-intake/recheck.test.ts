import { expect } from 'chai'
import { startMatcher, type Matcher } from '../../../actors/matcher/matcher.js'
import { observeMatcher } from '../../../actors/matcher/observe.js'
import type { OrderIntakeOptions } from '../../../actors/order-intake/intake.js'
import { decodeBlock } from '../../../bus-schemas/blocks.js'
import type { OrderReply } from '../../../bus-schemas/orders.js'
import { commandsStream, feedStream } from '../../../bus-schemas/subjects.js'
import type { SignatureVerdict } from '../../../chain/signing/verify-signature.js'
import type { Address } from '../../../core/action.js'
import type { Change } from '../../../core/model/change.js'
import { createMemoryBus, type MemoryBus } from '../../../runtime/bus/memory-bus.js'
import { createLog } from '../../../runtime/process/log.js'
import type { RunningProcess } from '../../../runtime/process/process.js'
import { farFutureSec, testPrivateKey } from '../../support/builders.js'
import { addressOf } from '../../support/cancel-proofs.js'
import { eventually } from '../../support/eventually.js'
import { anIntakeStage, ask, signedBody, type IntakeStage } from '../../support/intake-stage.js'
import { decodeCommands } from '../../support/spot-log.js'

const otherKey = `0x${'02'.repeat(32)}` as const
const owner = addressOf(testPrivateKey)
const byContract: SignatureVerdict = { kind: 'valid', byCode: true }
const byKey: SignatureVerdict = { kind: 'valid', byCode: false }
const wrong: SignatureVerdict = { kind: 'invalid', path: 'erc1271', digest: '0xd1' }
const unknown: SignatureVerdict = { kind: 'unknown', cause: new Error('silence') }

describe('signatures of live orders', () => {
  let stage: IntakeStage
  let bus: MemoryBus
  let matcher: Matcher
  let intake: RunningProcess

  const start = async (overrides: Partial<OrderIntakeOptions> = {}): Promise<void> => {
    intake = await stage.start(bus, { recheckEveryMs: 5, ...overrides })
  }

  beforeEach(async () => {
    stage = anIntakeStage()
    bus = createMemoryBus()
    await start()
    matcher = await startMatcher({
      bus,
      market: stage.market,
      ask: () => Promise.resolve({ kind: 'undecided', why: 'nothing settles here' }),
      facts: observeMatcher(createLog('matcher', 'silent')),
      nowMs: Date.now,
      tickMs: 1_000,
      onFatal: (error) => {
        throw error
      },
    })
    await eventually(() => matcher.isLive())
  })

  afterEach(async () => {
    await intake.stop()
    await matcher.stop()
    stage.close()
  })

  const place = async (terms: Parameters<typeof signedBody>[0] = {}): Promise<OrderReply> =>
    ask(bus, 'place', await signedBody({ amount: '1', ...terms }))
  const lastChange = async (orderId: string): Promise<Change | undefined> => {
    const messages = await bus.read(feedStream(stage.market.market), 1, 10_000)
    const changes = messages.flatMap(({ data }) => decodeBlock(data).changes)
    return changes.findLast((change) => change.orderId === orderId)
  }
  /** What the intake has told the log about signatures, in order. */
  const told = async (): Promise<boolean[]> => {
    const messages = await bus.read(commandsStream(stage.market.market), 1, 10_000)
    return messages
      .flatMap(({ data }) => decodeCommands(data))
      .flatMap(({ command }) => (command.kind === 'SignatureChecked' ? [command.valid] : []))
  }
  const revoked = (orderId: string) => async () => {
    const change = await lastChange(orderId)
    expect(change).to.include({ kind: 'OrderCancelled', cancelReason: 'signature_revoked' })
  }
  /** Several rounds have passed over whatever is live. */
  const rounds = async (): Promise<void> => {
    const before = stage.chain.asked
    await eventually(() => stage.chain.asked > before + 3)
  }

  const goUnreadable = (): void => {
    stage.chain.readable = false
    stage.chain.verdict = unknown
  }

  it('releases an order that came unchecked once the chain vouches for it', async () => {
    goUnreadable()
    const answer = await place({ orderId: 'late' })
    if (answer.kind !== 'order') throw new Error('expected an order')
    expect(answer.order.signatureStatus).to.equal('unchecked')
    expect(await lastChange('late')).to.include({ hold: 'signature_unchecked', open: 0n })
    await rounds()
    expect(await told()).to.deep.equal([])
    stage.chain.readable = true
    stage.chain.verdict = byKey
    await eventually(async () => {
      const change = await lastChange('late')
      expect(change?.kind).to.equal('OrderReleased')
      expect(change?.open).to.equal(change?.desired)
    })
    await rounds()
    expect(await told()).to.deep.equal([true])
  })

  it('cancels an order that came unchecked and turns out to be wrong (AUT-012)', async () => {
    goUnreadable()
    await place({ orderId: 'bad' })
    stage.chain.readable = true
    stage.chain.verdict = wrong
    await eventually(revoked('bad'))
  })

  it('cancels the order of a wallet contract that takes its word back (AUT-015)', async () => {
    stage.chain.hasCode = true
    stage.chain.verdict = byContract
    await place({ orderId: 'wallet' })
    await rounds()
    expect(await told()).to.deep.equal([])
    stage.chain.verdict = wrong
    await eventually(revoked('wallet'))
    expect(await told()).to.deep.equal([false])
  })

  it('cancels the order of a plain key that gained code which does not accept it (AUT-017)', async () => {
    stage.chain.verdict = byKey
    await place({ orderId: 'delegated' })
    await rounds()
    stage.chain.verdict = wrong
    await rounds()
    expect(await told()).to.deep.equal([])
    stage.chain.hasCode = true
    await eventually(revoked('delegated'))
  })

  it('cancels the order of a session key that is about to lapse, and says nothing before', async () => {
    stage.chain.keyExpirySec = BigInt(farFutureSec)
    await place({ orderId: 'session', privateKey: otherKey, owner })
    await rounds()
    expect(await told()).to.deep.equal([])
    stage.chain.keyExpirySec = BigInt(Math.floor(Date.now() / 1_000) + 9)
    await eventually(revoked('session'))
  })

  it('lets everything stand while the chain says nothing (AUT-016)', async () => {
    stage.chain.hasCode = true
    stage.chain.verdict = byContract
    await place({ orderId: 'kept' })
    goUnreadable()
    await rounds()
    expect(await lastChange('kept')).to.include({ kind: 'OrderPlaced', status: 'active' })
  })

  it('still watches after a restart, reading the feed from the oldest live order on', async () => {
    stage.chain.hasCode = true
    stage.chain.verdict = byContract
    await place({ orderId: 'gone' })
    const gone = await signedBody({ orderId: 'gone-too' })
    await ask(bus, 'place', gone)
    stage.chain.verdict = wrong
    await eventually(revoked('gone'))
    await eventually(revoked('gone-too'))
    stage.chain.verdict = byContract
    await place({ orderId: 'old' })
    const { lastSeq } = await bus.streamState(feedStream(stage.market.market))
    await rounds()
    await intake.stop()
    expect(stage.registry().watchedFrom(stage.market.market)).to.equal(lastSeq)
    stage.reopen()
    stage.chain.verdict = wrong
    await start({ registry: stage.registry() })
    await eventually(revoked('old'))
  })

  const refusedUnchecked = (code: string, whose: string) => ({
    code,
    status: 500,
    message: `the chain cannot be asked about the signature, and ${whose} wait for that already: nothing was placed, safe to retry`,
  })

  it('takes three orders of an owner unchecked, and more when they are checked (AUT-014)', async () => {
    goUnreadable()
    for (const orderId of ['u1', 'u2', 'u3'])
      expect((await place({ orderId })).kind).to.equal('order')
    const fourth = await signedBody({ orderId: 'u4' })
    const refusal = {
      ...refusedUnchecked('too_many_unchecked_orders', 'too many orders of owner_address'),
      field: 'owner_address',
    }
    expect(await ask(bus, 'place', fourth)).to.deep.equal({ kind: 'refused', refusal })
    expect((await place({ privateKey: otherKey })).kind).to.equal('order')
    stage.chain.readable = true
    stage.chain.verdict = byContract
    await eventually(async () => expect((await lastChange('u3'))?.kind).to.equal('OrderReleased'))
    await rounds()
    goUnreadable()
    expect((await ask(bus, 'place', fourth)).kind).to.equal('order')
  })

  it('takes a thousand orders of a market unchecked, and one more when one of them is gone (AUT-013)', async function () {
    goUnreadable()
    const ownerNo = (no: number): Address => `0x${no.toString(16).padStart(40, '0')}`
    const first = await signedBody({ owner: ownerNo(0), orderId: 'u1' })
    await ask(bus, 'place', first)
    for (let placed = 1; placed < 1_000; placed += 1) {
      const terms = { owner: ownerNo(Math.floor(placed / 3)) }
      expect((await place(terms)).kind, `order ${placed + 1}`).to.equal('order')
    }
    const another = await signedBody({ privateKey: otherKey })
    expect(await ask(bus, 'place', another)).to.deep.equal({
      kind: 'refused',
      refusal: refusedUnchecked('signature_unverifiable', 'too many orders of the market'),
    })
    await ask(bus, 'cancel', { owner_address: ownerNo(0), nonce: first.nonce })
    await eventually(async () => (await ask(bus, 'place', another)).kind === 'order')
  })
})
