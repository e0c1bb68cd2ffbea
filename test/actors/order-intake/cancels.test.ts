import { expect } from 'chai'
import type { OrderIntakeOptions } from '../../../actors/order-intake/intake.js'
import type { CancelsReply, CancelsKind } from '../../../bus-schemas/cancels.js'
import { isCommandsStream } from '../../../bus-schemas/subjects.js'
import { createSignatureVerifier } from '../../../chain/signing/verify-signature.js'
import type { Address, Hex } from '../../../core/action.js'
import { askOneMarket } from '../../../runtime/bus/ask-intake.js'
import { AppendUnknown } from '../../../runtime/bus/bus.js'
import { createMemoryBus, type MemoryBus } from '../../../runtime/bus/memory-bus.js'
import type { RunningProcess } from '../../../runtime/process/process.js'
import { codeAnswer } from '../../support/actions.js'
import { farFutureSec, testDomain, testPrivateKey } from '../../support/builders.js'
import { addressOf, serviceAuth, signedScope } from '../../support/cancel-proofs.js'
import { anIntakeStage, ask, signedBody, type IntakeStage } from '../../support/intake-stage.js'
import { startOn, type StartedMatcher } from '../matcher/stage.js'

const owner = addressOf(testPrivateKey)
const otherKey = `0x${'02'.repeat(32)}` as const
const other = addressOf(otherKey)
const LEASE = 'ab'.repeat(16)
const nowSec = (): number => Math.floor(Date.now() / 1_000)

const NEEDS_PROOF = '403 cancelling needs proof of ownership: a signed cancel or X-Service-Auth'
const NOT_OWNER = '403 the proof does not authorize owner_address'
const WRONG_SIGNATURE = '403 signature does not authorize this cancel'
const USED = '403 the signed cancel was used before: sign a new one'

describe('cancels of many orders at the intake', () => {
  let stage: IntakeStage
  let bus: MemoryBus
  let matcher: StartedMatcher
  let intake: RunningProcess
  let code: boolean | undefined
  let nowMs: () => number
  let issued = 0

  const verifier = createSignatureVerifier({
    domain: testDomain,
    codeCacheMs: 0,
    readCode: () => codeAnswer(code),
    callIsValidSignature: (_signer, _digest, signature) =>
      Promise.resolve(signature.startsWith('0x1271')),
  })
  const startIntake = async (options: Partial<OrderIntakeOptions> = {}): Promise<void> => {
    intake = await stage.start(bus, { verifier, nowMs: () => nowMs(), ...options })
  }

  beforeEach(async () => {
    code = false
    nowMs = Date.now
    stage = anIntakeStage()
    bus = createMemoryBus({ nowMs: () => nowMs() })
    await startIntake()
    matcher = await startOn(bus)
  })
  afterEach(async () => {
    await intake.stop()
    await matcher.matcher.stop()
    stage.close()
  })

  const place = async (fields: Record<string, unknown> = {}): Promise<string> => {
    const body = { ...(await signedBody()), ...fields }
    const answer = await ask(bus, 'place', body)
    if (answer.kind !== 'order') throw new Error(answer.refusal.message)
    return `${body.order_id} ${answer.progress.status}`
  }
  interface Sent {
    readonly kind?: CancelsKind
    readonly body?: object
    readonly frame?: string
    readonly authenticated?: Address
  }
  const askFor = async ({ kind = 'cancel_all', body = {}, frame, authenticated }: Sent) => {
    const answer = await askOneMarket(bus, {
      request_id: 'r',
      kind,
      market: stage.market.market,
      body: JSON.stringify({ owner_address: owner, ...body }),
      ...(frame !== undefined && { service_auth: frame }),
      ...(authenticated !== undefined && { authenticated }),
    })
    if (answer === undefined) throw new Error('no answer')
    return answer
  }
  /** The outcomes in short, or the status and text of the refusal. */
  const shown = (answer: CancelsReply): string => {
    if (answer.kind === 'refused') return `${answer.refusal.status} ${answer.refusal.message}`
    if (answer.kind === 'lease') return answer.ends_at_ms === 0 ? 'disarmed' : 'set'
    return answer.outcomes
      .map((each) => `${each.orderId} ${each.kind === 'not_cancelled' ? each.code : each.kind}`)
      .join(', ')
  }
  const outcomeOf = async (sent: Sent): Promise<string> => shown(await askFor(sent))
  /** Each proof differs from the ones before it in its times. */
  const signed = (scope: string, by: { key?: Hex; signer?: Address; owner?: Address } = {}) => {
    issued = (issued + 1) % 30
    const { key = testPrivateKey, ...terms } = by
    const times = { issuedAtSec: nowSec() - 1, expirySec: nowSec() + 25 + issued }
    return signedScope({ owner, scope, privateKey: key, ...times, ...terms })
  }
  const idOf = (placed: string): string => placed.split(' ')[0] ?? ''

  it('takes the frame of the owner as often as it is valid', async () => {
    const frame = await serviceAuth(testPrivateKey, nowSec())
    const first = idOf(await place())
    expect(await outcomeOf({ frame })).to.equal(`${first} cancelled`)
    const second = idOf(await place())
    expect(await outcomeOf({ frame })).to.equal(`${second} cancelled`)
    expect(await outcomeOf({ frame })).to.equal('')
  })

  it('takes the frame of a session key for the orders of its owner, while the key is registered (AUT-040, AUT-041)', async () => {
    const frame = await serviceAuth(otherKey, nowSec(), owner)
    const placed = idOf(await place())
    expect(await outcomeOf({ frame })).to.match(
      /^403 X-Service-Auth: signer_address is no session key/,
    )
    stage.chain.keyExpirySec = BigInt(nowSec() + 60)
    const another = await serviceAuth(otherKey, nowSec(), other)
    expect(await outcomeOf({ frame: another }), 'of another owner').to.equal(NOT_OWNER)
    expect(await outcomeOf({ frame })).to.equal(`${placed} cancelled`)
    stage.chain.keyExpirySec = 0n
    expect(await outcomeOf({ frame })).to.match(
      /^403 X-Service-Auth: signer_address is no session key/,
    )
  })

  it('takes a signed cancel once, also across restarts of intake and matcher (CAN-019)', async () => {
    const first = idOf(await place())
    const body = await signed('all')
    expect(await outcomeOf({ body })).to.equal(`${first} cancelled`)
    await place()
    expect(await outcomeOf({ body })).to.equal(USED)
    await intake.stop()
    await matcher.matcher.stop()
    await startIntake()
    matcher = await startOn(bus)
    expect(await outcomeOf({ body })).to.equal(USED)
    expect(await outcomeOf({ body: await signed('all') })).to.contain('cancelled')
  })

  it('takes a proof once also where it changes nothing (CAN-019)', async () => {
    const renewal = async () => ({
      kind: 'cancel_all_after' as const,
      body: { ...(await signed('cancel_all_after=60')), seconds: 60 },
    })
    expect(await outcomeOf(await renewal())).to.equal('set')
    const unspent = await renewal()
    expect(await outcomeOf(unspent)).to.equal('set')
    expect(await outcomeOf(unspent)).to.equal(USED)
    const ids = ['of-no-market']
    const list = {
      kind: 'cancel_orders' as const,
      body: { ...(await signed(`order_ids=${JSON.stringify(ids)}`)), order_ids: ids },
    }
    expect(await outcomeOf(list)).to.equal('')
    expect(await outcomeOf(list)).to.equal(USED)
  })

  it('refuses what is wrong with a proof, and cancels nothing (CAN-017)', async () => {
    const placed = idOf(await place())
    const good = await signed('all')
    const frameOf = (key: Hex) => serviceAuth(key, nowSec())
    const late = { issuedAtSec: nowSec() - 61, expirySec: nowSec() - 1 }
    const early = { issuedAtSec: nowSec() + 100, expirySec: nowSec() + 130 }
    const by = { owner, scope: 'all', privateKey: testPrivateKey }
    const cases: [Sent, string][] = [
      [{}, NEEDS_PROOF],
      [{ body: { ...good, side: 'buy' } }, WRONG_SIGNATURE],
      [{ body: { ...good, market: 'cNGN-USDC' } }, WRONG_SIGNATURE],
      [{ body: { ...good, subaccount_id: '7' } }, WRONG_SIGNATURE],
      [{ body: { ...good, expiry: Number(good.expiry) - 1 } }, WRONG_SIGNATURE],
      [{ body: { ...good, signature: 'none' } }, WRONG_SIGNATURE],
      [{ body: { ...good, owner_address: other } }, WRONG_SIGNATURE],
      [{ body: await signed('all', { key: otherKey }) }, NOT_OWNER],
      [{ body: await signed('all', { key: otherKey, signer: owner }) }, WRONG_SIGNATURE],
      [{ body: await signedScope({ ...by, ...late }) }, '403 the signed cancel has expired'],
      [{ body: await signedScope({ ...by, ...early }) }, '403 issued_at is in the future'],
      [
        { body: await signedScope({ ...by, issuedAtSec: nowSec() - 1, expirySec: nowSec() + 60 }) },
        '400 the signed cancel may be valid for at most 60 seconds',
      ],
      [{ frame: await frameOf(otherKey) }, NOT_OWNER],
      [{ body: good, frame: await frameOf(otherKey) }, NOT_OWNER],
      [{ frame: '!' }, '403 X-Service-Auth: must be base64url-encoded JSON'],
      [{ authenticated: other }, NOT_OWNER],
      [{ kind: 'cancel_orders', body: { ...good, order_ids: [placed] } }, WRONG_SIGNATURE],
      [{ kind: 'cancel_all_after', body: { ...good, seconds: 10 } }, WRONG_SIGNATURE],
      [{ kind: 'open_lease', body: { lease_id: LEASE, seconds: 10 } }, NEEDS_PROOF],
    ]
    for (const [sent, refusal] of cases) {
      expect(await outcomeOf(sent), JSON.stringify(sent)).to.equal(refusal)
    }
    // None of these used the proof up.
    expect(await outcomeOf({ body: good })).to.equal(`${placed} cancelled`)
  })

  it('says which scope a wrong signature should have named (CAN-020)', async () => {
    const answer = await askFor({ body: { ...(await signed('all')), side: 'buy' } })
    expect(answer.kind === 'refused' && answer.refusal.detail).to.deep.include({
      scope: 'side=buy',
    })
  })

  it('takes a session key while it is registered, and a contract wallet', async () => {
    const placed = idOf(await place())
    stage.chain.keyExpirySec = BigInt(nowSec() - 1)
    const byKey = await signed('all', { key: otherKey })
    expect(await outcomeOf({ body: byKey })).to.equal(NOT_OWNER)
    stage.chain.keyExpirySec = BigInt(farFutureSec)
    expect(await outcomeOf({ body: byKey })).to.equal(`${placed} cancelled`)
    const next = idOf(await place())
    code = true
    const body = await signed('all')
    expect(await outcomeOf({ body })).to.equal(WRONG_SIGNATURE)
    const byWallet = { ...body, signature: '0x1271' }
    expect(await outcomeOf({ body: byWallet })).to.equal(`${next} cancelled`)
    // Another signature of the same cancel is the same cancel.
    expect(await outcomeOf({ body: { ...body, signature: '0x127100' } })).to.equal(USED)
  })

  it('does not act on a proof that the chain could not be asked about', async () => {
    stage.chain.readable = false
    const body = await signed('all', { key: otherKey })
    expect(await outcomeOf({ body })).to.equal(
      '500 the chain could not be asked about the proof: nothing was cancelled, safe to retry',
    )
  })

  it('cancels a list, each order for itself', async () => {
    const a = idOf(await place())
    const b = idOf(await place())
    const orderIds = [a, 'unknown', b, a]
    const sent = {
      kind: 'cancel_orders',
      body: { ...(await signed(`order_ids=${JSON.stringify(orderIds)}`)), order_ids: orderIds },
    } as const
    // What the intake has never seen is in no market's log.
    expect(await outcomeOf(sent)).to.equal(`${a} cancelled, ${b} cancelled`)
    const frame = await serviceAuth(testPrivateKey, nowSec())
    const again = { kind: 'cancel_orders', frame, body: { order_ids: [a] } } as const
    expect(await outcomeOf(again)).to.equal(`${a} active_order_not_found`)
    const c = idOf(await place())
    const foreign = {
      kind: 'cancel_orders',
      frame: await serviceAuth(otherKey, nowSec()),
      body: { owner_address: other, order_ids: [c] },
    } as const
    expect(await outcomeOf(foreign)).to.equal(`${c} order_of_another_owner`)
  })

  it('writes a dead-man switch when half of it is spent, and lets it be disarmed', async () => {
    const frame = await serviceAuth(testPrivateKey, nowSec())
    let atMs = Date.now()
    nowMs = () => atMs
    const logged = async (): Promise<number> =>
      (await bus.streamState(`COMMANDS_${stage.market.market}`)).lastSeq
    const set = { kind: 'cancel_all_after', frame, body: { seconds: 60 } } as const
    const first = await askFor(set)
    await intake.stop()
    // Without ticks nothing but these commands enters the log.
    await matcher.matcher.stop()
    await startIntake()
    matcher = await startOn(bus, { tickMs: 1e9 })
    expect(first.kind).to.equal('lease')
    // A new process does not know it, and writes it.
    const second = await askFor(set)
    const written = await logged()
    atMs += 29_000
    expect(await askFor(set)).to.deep.equal(second)
    expect(await logged()).to.equal(written)
    atMs += 2_000
    expect(await askFor(set)).not.to.deep.equal(second)
    expect(await logged()).to.be.above(written)
    const disarm = { kind: 'cancel_all_after', frame, body: { seconds: 0 } } as const
    expect(await outcomeOf(disarm)).to.equal('disarmed')
    expect(await outcomeOf(set)).to.equal('set')
  })

  it('cancels the orders of a lease that ended while the venue was down, before anything else (CAN-027)', async () => {
    const lease = { authenticated: owner, body: { lease_id: LEASE, seconds: 10 } } as const
    expect(await outcomeOf({ kind: 'open_lease', ...lease })).to.equal('set')
    expect(await place({ lease_id: LEASE })).to.contain(' active')
    await matcher.matcher.stop()
    const later = Date.now() + 11_000
    nowMs = () => later
    matcher = await startOn(bus, { nowMs })
    const frame = await serviceAuth(testPrivateKey, nowSec())
    expect(await outcomeOf({ kind: 'renew_lease', ...lease })).to.equal(
      '409 the lease has ended: the orders under it are cancelled',
    )
    expect(await outcomeOf({ frame })).to.equal('')
    expect(await place({ lease_id: LEASE })).to.contain(' cancelled')
  })

  it('ends a lease with its orders, also those in flight', async () => {
    const lease = { authenticated: owner, body: { lease_id: LEASE, seconds: 10 } } as const
    await outcomeOf({ kind: 'open_lease', ...lease })
    const placed = idOf(await place({ lease_id: LEASE }))
    const kept = idOf(await place())
    expect(await outcomeOf({ kind: 'end_lease', ...lease })).to.equal(`${placed} cancelled`)
    expect(await place({ lease_id: LEASE })).to.contain(' cancelled')
    const frame = await serviceAuth(testPrivateKey, nowSec())
    expect(await outcomeOf({ frame })).to.equal(`${kept} cancelled`)
  })

  it('stops the market alone when its log turns out to be rolled back', async () => {
    await intake.stop()
    const line = bus.connect()
    const inner = bus.connect()
    let isRolledBack = false
    const append: MemoryBus['append'] = (subject, ...rest) =>
      isRolledBack && subject.startsWith('commands.')
        ? Promise.reject(new AppendUnknown('lost'))
        : inner.append(subject, ...rest)
    const streamState: MemoryBus['streamState'] = (stream) =>
      isRolledBack && isCommandsStream(stream)
        ? Promise.resolve({ firstSeq: 1, lastSeq: 0 })
        : inner.streamState(stream)
    intake = await stage.start(Object.assign(line, { append, streamState }), { verifier })
    await place()
    isRolledBack = true
    const frame = await serviceAuth(testPrivateKey, nowSec())
    expect(await outcomeOf({ frame })).to.equal('500 failed to resolve cancel target')
    expect(await outcomeOf({ frame })).to.equal('400 trading_paused')
  })
})
