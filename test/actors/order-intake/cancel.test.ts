import { expect } from 'chai'
import type { OrderIntakeOptions } from '../../../actors/order-intake/intake.js'
import { createSignatureVerifier } from '../../../chain/signing/verify-signature.js'
import { createMemoryBus, type MemoryBus } from '../../../runtime/bus/memory-bus.js'
import type { RunningProcess } from '../../../runtime/process/process.js'
import { codeAnswer } from '../../support/actions.js'
import { farFutureSec, testDomain, testPrivateKey, type OrderBody } from '../../support/builders.js'
import { addressOf, serviceAuth, signedCancel } from '../../support/cancel-proofs.js'
import { startFakeMatcher, type FakeMatcher } from '../../support/fake-matcher.js'
import { anIntakeStage, ask, signedBody, type IntakeStage } from '../../support/intake-stage.js'

const owner = addressOf(testPrivateKey)
const otherKey = `0x${'02'.repeat(32)}` as const
const nowSec = (): number => Math.floor(Date.now() / 1_000)
const byOwner = { owner, expirySec: farFutureSec, privateKey: testPrivateKey }

describe('the authority of a cancel', () => {
  let stage: IntakeStage
  let bus: MemoryBus
  let matcher: FakeMatcher
  let intake: RunningProcess
  let body: OrderBody
  /** What the chain says about code at an address. */
  let code: boolean | undefined

  const start = async (cancelAuth: OrderIntakeOptions['cancelAuth']): Promise<void> => {
    code = false
    stage = anIntakeStage()
    bus = createMemoryBus()
    const verifier = createSignatureVerifier({
      domain: testDomain,
      codeCacheMs: 0,
      readCode: () => codeAnswer(code),
      callIsValidSignature: (_signer, _digest, signature) =>
        Promise.resolve(signature.startsWith('0x1271')),
    })
    intake = await stage.start(bus, { cancelAuth, verifier })
    matcher = await startFakeMatcher(bus, stage.market.market)
    body = await signedBody()
    await ask(bus, 'place', body)
  }

  afterEach(async () => {
    await intake.stop()
    await matcher.stop()
    stage.close()
  })

  /** `cancelled`, or the status and text of the refusal. */
  const outcomeOf = async (request: unknown, header?: string): Promise<string> => {
    const before = matcher.taken.length
    const answer = await ask(bus, 'cancel', request, { ...(header && { serviceAuth: header }) })
    if (answer.kind === 'order') return 'cancelled'
    expect(matcher.taken).to.have.length(before)
    return `${answer.refusal.status} ${answer.refusal.message}`
  }
  const bare = (): Record<string, unknown> => ({ owner_address: owner, nonce: body.nonce })

  const NEEDS_PROOF = '403 cancelling needs proof of ownership: a signed cancel or X-Service-Auth'
  const NOT_OWNER = '403 the proof does not authorize owner_address'
  const WRONG_SIGNATURE = '403 signature does not authorize this cancel'

  for (const cancelAuth of ['open', 'required'] as const) {
    describe(`with CANCEL_AUTH=${cancelAuth} (CAN-009)`, () => {
      beforeEach(() => start(cancelAuth))

      it('takes the signature of the owner', async () => {
        expect(await outcomeOf(await signedCancel({ ...byOwner, nonce: body.nonce }))).to.equal(
          'cancelled',
        )
      })

      it('takes the signature of the owner beside the id of the order (CAN-047)', async () => {
        const signed = await signedCancel({ ...byOwner, nonce: body.nonce })
        const named = { ...signed, nonce: undefined, order_id: body.order_id }
        const other = await signedCancel({ ...byOwner, nonce: '12345' })
        expect(await outcomeOf({ ...named, signature: other.signature })).to.equal(WRONG_SIGNATURE)
        expect(await outcomeOf(named)).to.equal('cancelled')
      })

      it('takes the frame of the owner', async () => {
        const header = await serviceAuth(testPrivateKey, nowSec())
        expect(await outcomeOf(bare(), header)).to.equal('cancelled')
      })

      it('takes the frame of a session key while it is registered (AUT-040, AUT-041)', async () => {
        const ended =
          '403 X-Service-Auth: signer_address is no session key of address, or its registration has ended'
        const header = await serviceAuth(otherKey, nowSec(), owner)
        expect(await outcomeOf(bare(), header)).to.equal(ended)
        stage.chain.keyExpirySec = BigInt(nowSec() - 1)
        expect(await outcomeOf(bare(), header)).to.equal(ended)
        stage.chain.readable = false
        expect(await outcomeOf(bare(), header)).to.equal(
          '500 the chain could not be asked about the proof: nothing was cancelled, safe to retry',
        )
        stage.chain.readable = true
        stage.chain.keyExpirySec = BigInt(farFutureSec)
        const another = await serviceAuth(otherKey, nowSec(), `0x${'ab'.repeat(20)}`)
        expect(await outcomeOf(bare(), another), 'a key of another owner').to.equal(NOT_OWNER)
        expect(await outcomeOf(bare(), header)).to.equal('cancelled')
      })

      it('takes the signature of a session key while it is registered (CAN-013)', async () => {
        const request = await signedCancel({ ...byOwner, nonce: body.nonce, privateKey: otherKey })
        expect(await outcomeOf(request)).to.equal(NOT_OWNER)
        stage.chain.keyExpirySec = BigInt(nowSec() - 1)
        expect(await outcomeOf(request)).to.equal(NOT_OWNER)
        stage.chain.keyExpirySec = BigInt(farFutureSec)
        expect(await outcomeOf(request)).to.equal('cancelled')
      })

      it('takes what a wallet contract accepts, and nothing else of it (CAN-013)', async () => {
        code = true
        const request = await signedCancel({ ...byOwner, nonce: body.nonce })
        expect(await outcomeOf(request)).to.equal(WRONG_SIGNATURE)
        expect(await outcomeOf({ ...request, signature: '0x1271' })).to.equal('cancelled')
      })

      it('refuses a proof that is wrong, expired or of another owner (CAN-012)', async () => {
        const other = { ...byOwner, nonce: body.nonce, privateKey: otherKey }
        const signed = await signedCancel({ ...byOwner, nonce: body.nonce })
        const cases: [unknown, string | undefined, string][] = [
          [await signedCancel({ ...other, signer: owner }), undefined, WRONG_SIGNATURE],
          [{ ...signed, nonce: '12345' }, undefined, WRONG_SIGNATURE],
          [{ ...signed, signature: 'none' }, undefined, WRONG_SIGNATURE],
          [
            await signedCancel({ ...byOwner, nonce: body.nonce, expirySec: nowSec() - 1 }),
            undefined,
            '403 the signed cancel has expired',
          ],
          [bare(), await serviceAuth(otherKey, nowSec()), NOT_OWNER],
          [signed, await serviceAuth(otherKey, nowSec()), NOT_OWNER],
          [
            bare(),
            await serviceAuth(testPrivateKey, nowSec() - 700),
            '403 X-Service-Auth: the frame has expired',
          ],
          [bare(), '!', '403 X-Service-Auth: must be base64url-encoded JSON'],
        ]
        for (const [request, header, refusal] of cases) {
          expect(await outcomeOf(request, header)).to.equal(refusal)
        }
      })
    })
  }

  it('refuses a bare cancel where a proof is required, whether or not there is such an order (CAN-010)', async () => {
    await start('required')
    expect(await outcomeOf(bare())).to.equal(NEEDS_PROOF)
    expect(await outcomeOf({ ...bare(), nonce: '999999' })).to.equal(NEEDS_PROOF)
    for (const orderId of [body.order_id, 'never']) {
      const named = { ...bare(), nonce: undefined, order_id: orderId }
      expect(await outcomeOf(named)).to.equal(NEEDS_PROOF)
    }
    expect(await outcomeOf({ ...bare(), signer_address: owner, expiry: 1 })).to.equal(NEEDS_PROOF)
  })

  it('says that it could not ask the chain only where the answer is needed', async () => {
    await start('required')
    const byKey = () => signedCancel({ ...byOwner, nonce: body.nonce, privateKey: otherKey })
    const request = await byKey()
    stage.chain.readable = false
    expect(await outcomeOf(request)).to.equal(
      '500 the chain could not be asked about the proof: nothing was cancelled, safe to retry',
    )
    const header = await serviceAuth(testPrivateKey, nowSec())
    expect(await outcomeOf(request, header)).to.equal('cancelled')
    await intake.stop()
    await matcher.stop()
    stage.close()
    await start('open')
    stage.chain.readable = false
    expect(await outcomeOf(await byKey())).to.equal('cancelled')
  })
})
