import { expect } from 'chai'
import fc from 'fast-check'
import { signedOrderBody, testPrivateKey } from '../../support/builders.js'
import { serviceAuth } from '../../support/cancel-proofs.js'
import { anOrderStage, type OrderStage } from '../stage/order-stage.js'
import { fuzzedOperations, type FuzzedRequest, type RealThings } from './arbitrary-request.js'
import { runs } from '../../support/property-runs.js'

const WRITE_RUNS = 400
const READ_RUNS = 100
const REAL_BODIES = 40
const WRITE_LIMIT_MS = 2_500
const READ_LIMIT_MS = 800
/** Processor time that no request may cost, so that it does not hold up the others; a busy machine does not count. */
const STALL_MICROSECONDS = 100_000
/** The collector or the compiler may run in one of them; what we do ourselves costs the same each time. */
const STALL_TRIES = 3

/** What only the book can refuse, so that it is in the log: no active order, or a post-only order that would take. */
const REFUSED_BY_MARKET = [
  ...['/v1/orders 422', '/v1/orders/cancel 404'],
  ...['/v1/orders/replace 404', '/v1/orders/replace 422', '/v1/orders/reduce 404'],
]

/** The chain, its reader and the fan-out, which the stage lacks, answer these: 502 and 503 say so. */
const ANSWERED_ELSEWHERE = new Set(['/v1/permit-nonce', '/v1/balances', '/v1/accounts'])

describe('requests made up from the document', function () {
  let stage: OrderStage
  let real: RealThings

  before(async () => {
    stage = await anOrderStage()
    const bodies: Record<string, unknown>[] = []
    for (let i = 0; i < REAL_BODIES; i += 1) {
      const orderId = `fuzz-${i}`
      bodies.push({ ...(await signedOrderBody({ orderId, nonce: BigInt(i) })) })
    }
    real = { bodies, frame: await serviceAuth(testPrivateKey, stage.nowSec) }
  })
  after(() => stage.close())

  /** The answer is documented (or `send` rejects), no failure of ours, and a refusal leaves no trace. */
  async function expectSound({ method, path, headers, body }: FuzzedRequest): Promise<void> {
    const before = await stage.kept()
    const { status } = await stage.send(method, path, {
      headers,
      ...(body !== undefined && { body }),
    })
    const isElsewhere = status > 500 && ANSWERED_ELSEWHERE.has(path.split('?')[0] ?? '')
    if (!isElsewhere) expect(status, 'status').to.be.below(500)
    const after = await stage.kept()
    if (status >= 400 && after.published !== before.published)
      expect(REFUSED_BY_MARKET).to.include(`${path} ${status}`)
    if (status >= 400 && status !== 422 && path === '/v1/orders')
      expect(after).to.deep.equal(before)
    expect(({} as Record<string, unknown>).order_id, 'prototype').to.equal(undefined)
  }

  async function expectNoStall(request: FuzzedRequest): Promise<void> {
    for (let tries = 1; ; tries += 1) {
      const before = process.cpuUsage()
      await expectSound(request)
      const { user, system } = process.cpuUsage(before)
      if (user + system < STALL_MICROSECONDS) return
      expect(tries, `cost ${user + system} microseconds`).to.be.below(STALL_TRIES)
    }
  }

  for (const { name, isWrite, requests } of fuzzedOperations) {
    it(`${name} answers them all`, async () => {
      await fc.assert(fc.asyncProperty(requests(real), expectNoStall), {
        numRuns: runs(isWrite ? WRITE_RUNS : READ_RUNS),
        interruptAfterTimeLimit: runs(isWrite ? WRITE_LIMIT_MS : READ_LIMIT_MS),
      })
    })
  }

  it('took some of them and refused others', async () => {
    const { stored, published } = await stage.kept()
    expect(stored).to.be.above(0)
    expect(published).to.be.above(0)
    expect(stage.matcher.taken.length).to.be.below(WRITE_RUNS)
  })
})
