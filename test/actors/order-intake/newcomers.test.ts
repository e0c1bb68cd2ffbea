import { expect } from 'chai'
import { createCancels, type CancelsDeps } from '../../../actors/order-intake/cancels.js'
import { NEWCOMERS_MAX } from '../../../actors/order-intake/known-leases.js'
import { decodeCancelsAnswer, encodeCancelsRequest } from '../../../bus-schemas/cancels.js'
import type { Address } from '../../../core/action.js'
import { LEASES_MAX } from '../../../core/model/limits.js'

const DAY_MS = 86_400_000
const client: Address = `0x${'cc'.repeat(20)}`
const newcomer = (n: number): Address => `0x${n.toString(16).padStart(40, '0')}`

describe('leases of owners who have never placed an order', () => {
  let nowMs: number
  let logged: number
  let handle: ReturnType<typeof createCancels>
  let refused: string | undefined

  beforeEach(() => {
    nowMs = 1_760_000_000_000
    logged = 0
    const submit = () => {
      logged += 1
      return Promise.resolve({ kind: 'logged' } as const)
    }
    handle = createCancels({
      bus: {
        reply: (_: string, data: Uint8Array) => {
          const answer = decodeCancelsAnswer(data)
          refused = answer.kind === 'refused' ? answer.refusal.code : answer.kind
        },
      },
      registry: { findOrder: () => undefined, hasOrderOf: (owner: Address) => owner === client },
      commandLogs: new Map(['A', 'B'].map((market) => [market, { submit }])),
      halts: { cancelRefusalOf: () => undefined, stop: () => undefined },
      nowMs: () => nowMs,
    } as unknown as CancelsDeps)
  })

  /** The refusal, or undefined when the lease is in the log. */
  async function arm(owner: Address, market = 'A', seconds = 60): Promise<string | undefined> {
    refused = undefined
    const body = JSON.stringify({ owner_address: owner, seconds })
    const request = { request_id: 'r', kind: 'cancel_all_after', market, body } as const
    await handle(encodeCancelsRequest({ ...request, authenticated: owner }), 'to')
    return refused
  }

  it('leave room in a market for those of its clients, each day anew (CAN-033)', async () => {
    expect(NEWCOMERS_MAX).to.be.lessThan(LEASES_MAX / 2)
    for (let n = 1; n <= NEWCOMERS_MAX; n += 1) await arm(newcomer(n))
    expect(logged).to.equal(NEWCOMERS_MAX)
    const late = newcomer(NEWCOMERS_MAX + 1)
    expect(await arm(late)).to.equal('too_many_leases')
    expect(await arm(client)).to.equal(undefined)
    expect(await arm(newcomer(1), 'A', 120), 'one that was admitted').to.equal(undefined)
    expect(await arm(late, 'A', 0), 'disarms').to.equal(undefined)
    expect(await arm(late, 'B')).to.equal(undefined)
    nowMs += DAY_MS
    expect(await arm(late)).to.equal(undefined)
  })
})
