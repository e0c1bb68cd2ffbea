import { expect } from 'chai'
import { maySign, type Leg, type SideReads } from '../../../chain/contracts/side-checks.js'
import type { Action, Address } from '../../../core/action.js'

const OWNER: Address = `0x${'aa'.repeat(20)}`
const KEY: Address = `0x${'bb'.repeat(20)}`
const NOW = 1_000n

/** Whether an action may still be signed, where the key is registered until `keyExpiry`. */
function judged(action: Partial<Action>, keyExpiry = 0n): Promise<boolean> {
  const client = {
    getBlock: () => Promise.resolve({ timestamp: NOW }),
    readContract: ({ args }: { readonly args: readonly unknown[] }) => {
      expect(args).to.deep.equal([KEY, OWNER])
      return Promise.resolve(keyExpiry)
    },
  }
  const reads = { client, deployment: { matching: OWNER } } as unknown as SideReads
  const leg = { action: { owner: OWNER, signer: OWNER, expiry: NOW, ...action } } as Leg
  return maySign(reads, leg)
}

describe('the signer of one side of a match', () => {
  it('is the owner, until the action expires', async () => {
    expect(await judged({})).to.equal(true)
    expect(await judged({ expiry: NOW - 1n })).to.equal(false)
    const sameOwner = OWNER.toUpperCase().replace('X', 'x') as Address
    expect(await judged({ signer: sameOwner })).to.equal(true)
  })

  it('is a session key of the owner, until it lapses', async () => {
    expect(await judged({ signer: KEY }, NOW)).to.equal(true)
    expect(await judged({ signer: KEY }, NOW - 1n)).to.equal(false)
    expect(await judged({ signer: KEY })).to.equal(false)
    expect(await judged({ signer: KEY, expiry: NOW - 1n }, NOW)).to.equal(false)
  })
})
