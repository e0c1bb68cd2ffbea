import { expect } from 'chai'
import { createUnderWay } from '../../../actors/order-intake/under-way.js'
import type { OrderReply } from '../../../bus-schemas/orders.js'
import type { SignatureVerdict } from '../../../chain/signing/verify-signature.js'
import { askOneMarket } from '../../../runtime/bus/ask-intake.js'
import { createMemoryBus, type MemoryBus } from '../../../runtime/bus/memory-bus.js'
import type { RunningProcess } from '../../../runtime/process/process.js'
import { testPrivateKey } from '../../support/builders.js'
import { addressOf } from '../../support/cancel-proofs.js'
import { anIntakeStage, ask, signedBody, type IntakeStage } from '../../support/intake-stage.js'
import { startOn, type StartedMatcher } from '../matcher/stage.js'

const owner_address = addressOf(testPrivateKey)
const VALID: SignatureVerdict = { kind: 'valid', byCode: false }
const INVALID: SignatureVerdict = { kind: 'invalid', digest: '0xd1', path: 'ecdsa' }

/** What names an order that is still being placed. */
describe('orders on their way through the intake', () => {
  let stage: IntakeStage
  let bus: MemoryBus
  let matcher: StartedMatcher
  let intake: RunningProcess
  /** Ends the check of the signatures that were asked about, in turn. */
  let judge: ((verdict: SignatureVerdict) => void)[]

  beforeEach(async () => {
    stage = anIntakeStage()
    bus = createMemoryBus()
    judge = []
    intake = await stage.start(bus, {
      verifier: {
        digest: () => '0xd1',
        cancelDigest: () => '0xc1',
        cancelAllDigest: () => '0xca',
        hasCode: () => Promise.resolve(false),
        verify: () => new Promise((resolve) => void judge.push(resolve)),
        verifyDigest: () => Promise.resolve(VALID),
      },
    })
    matcher = await startOn(bus)
  })
  afterEach(async () => {
    for (const end of judge) end(INVALID)
    await intake.stop()
    await matcher.matcher.stop()
    stage.close()
  })

  const shown = (answer: OrderReply): string =>
    answer.kind === 'order'
      ? answer.progress.status
      : `${answer.refusal.status} ${answer.refusal.code}`
  const cancel = async (nonce: string) => shown(await ask(bus, 'cancel', { owner_address, nonce }))
  /** What has been answered, in turn, by its name. */
  const heard = (asked: Readonly<Record<string, Promise<string>>>): string[] => {
    const answers: string[] = []
    for (const [name, answer] of Object.entries(asked)) {
      void answer.then((text) => answers.push(`${name}: ${text}`))
    }
    return answers
  }
  /** An order whose signature is still being checked. */
  const placing = async () => {
    const body = await signedBody()
    const asked = judge.length
    const placed = ask(bus, 'place', body).then(shown)
    // A later request has been answered.
    expect(await cancel('987654321')).to.equal('404 active_order_not_found')
    expect(judge).to.have.length(asked + 1)
    return { body, placed }
  }
  /** Whatever was asked before and needs nothing else has been answered after it. */
  const othersAnswered = () => cancel('987654321')

  it('are cancelled once they are placed (CAN-007)', async () => {
    const { body, placed } = await placing()
    const cancelled = cancel(`00${body.nonce}`)
    const answers = heard({ placed, cancelled })
    await othersAnswered()
    expect(answers).to.deep.equal([])
    judge[0]?.(VALID)
    expect([await placed, await cancelled]).to.deep.equal(['active', 'cancelled'])
  })

  it('have no cancel once they are refused', async () => {
    const { body, placed } = await placing()
    const cancelled = cancel(body.nonce)
    const answers = heard({ placed, cancelled })
    await othersAnswered()
    expect(answers).to.deep.equal([])
    judge[0]?.(INVALID)
    expect(await cancelled).to.equal('404 active_order_not_found')
    expect(await placed).to.match(/^40\d /)
  })

  it('are not hidden by what others send in their name', async () => {
    const { body, placed } = await placing()
    const { nonce, order_id } = body
    for (const named of [nonce, `0${nonce}`]) {
      const sent = { owner_address, nonce: named, order_id }
      expect(shown(await ask(bus, 'place', sent))).to.match(/^400 /)
    }
    const later = ask(bus, 'place', body).then(shown)
    const cancelled = cancel(nonce)
    const answers = heard({ cancelled })
    await othersAnswered()
    // The one of two that is decided first says nothing of the other one.
    judge[1]?.(INVALID)
    await later
    await othersAnswered()
    expect(answers).to.deep.equal([])
    judge[0]?.(VALID)
    expect([await placed, await cancelled]).to.deep.equal(['active', 'cancelled'])
  })

  it('let so many cancels wait, and no more (CAN-008)', async () => {
    const { body, placed } = await placing()
    const waiting = Array.from({ length: 16 }, () => cancel(body.nonce))
    expect(await cancel(body.nonce)).to.equal('500 cancel_target_unresolved')
    judge[0]?.(VALID)
    await placed
    const answers = await Promise.all(waiting)
    expect(answers.filter((each) => each === 'cancelled')).to.have.length(1)
    expect(answers.filter((each) => each !== 'cancelled')).to.deep.equal(
      Array.from({ length: 15 }, () => '404 active_order_not_found'),
    )
    expect(await cancel(body.nonce)).to.equal('404 active_order_not_found')
  })

  it('let a list wait in each market, however many markets there are', async () => {
    const underWay = createUnderWay()
    const { order_id, nonce } = await signedBody()
    let end = (): void => undefined
    const place = underWay.during(() => new Promise<void>((resolve) => (end = resolve)))
    const placed = place({ owner_address, order_id, nonce })
    const waitIn = (market: string) => underWay.waitForId(owner_address, order_id, market)
    const lists = Array.from({ length: 17 }, (_, n) => waitIn(`market ${n}`))
    expect(lists).to.not.include('too_many')
    expect(Array.from({ length: 16 }, () => waitIn('market 0')).at(-1)).to.equal('too_many')
    end()
    await Promise.all([placed, ...lists])
    expect(waitIn('market 0')).to.equal(undefined)
  })

  it('are replaced once they are placed', async () => {
    const { body, placed } = await placing()
    const second = { ...(await signedBody()), replaces_nonce: body.nonce }
    const replaced = ask(bus, 'replace', second).then(shown)
    await othersAnswered()
    judge[1]?.(VALID)
    const answers = heard({ placed, replaced })
    await othersAnswered()
    expect(answers).to.deep.equal([])
    judge[0]?.(VALID)
    expect([await placed, await replaced]).to.deep.equal(['active', 'active'])
  })

  it('do not wait for each other for ever', async () => {
    const first = await signedBody()
    const second = await signedBody()
    const both = [
      ask(bus, 'replace', { ...first, replaces_nonce: second.nonce }).then(shown),
      ask(bus, 'replace', { ...second, replaces_nonce: first.nonce }).then(shown),
    ]
    await othersAnswered()
    for (const end of judge) end(VALID)
    expect(await Promise.all(both)).to.include('500 overloaded')
    const itself = ask(bus, 'replace', { ...first, replaces_nonce: first.nonce }).then(shown)
    await othersAnswered()
    judge[2]?.(VALID)
    expect(await itself).to.equal('404 active_order_not_found')
  })

  it('are cancelled by their id once they are placed', async () => {
    const { body, placed } = await placing()
    const asked = askOneMarket(bus, {
      request_id: 'r',
      kind: 'cancel_orders',
      market: stage.market.market,
      body: JSON.stringify({ owner_address, order_ids: [body.order_id] }),
      authenticated: owner_address,
    })
    await othersAnswered()
    judge[0]?.(VALID)
    await placed
    const answer = await asked
    expect(answer?.kind === 'cancels' && answer.outcomes.map(({ kind }) => kind)).to.deep.equal([
      'cancelled',
    ])
  })
})
