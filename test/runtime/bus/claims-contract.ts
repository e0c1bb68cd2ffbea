import { expect } from 'chai'
import { AppendUnknown, BusMisconfigured, type Bus } from '../../../runtime/bus/bus.js'
import { eventually } from '../../support/eventually.js'
import type { BusUnderTest } from './bus-contract.js'
import { rejectionOf, run } from './probes.js'

/** What bus.ts promises of claims, checked on one implementation. */
export function claimsContract(name: string, open: () => Promise<BusUnderTest>): void {
  describe(`claims: ${name}`, () => {
    let bus: Bus
    let other: Bus
    let buckets = 0
    let bucket = ''
    const claims = (keepMs: number) => ({ bucket, keepMs, description: 'contract' })

    before(async () => {
      const underTest = await open()
      bus = await underTest.connect()
      other = await underTest.connect()
    })
    after(async () => {
      await bus.close()
      await other.close()
    })
    beforeEach(() => (bucket = `contract_${++buckets}`))

    it('are made once, by whichever process asks first', async () => {
      await bus.declareClaims(claims(60_000))
      await other.declareClaims(claims(60_000))
      const asked = run(1, 20).map((n) => (n % 2 === 0 ? bus : other).claimOnce(bucket, 'a-1_x'))
      expect((await Promise.all(asked)).filter((isFirst) => isFirst)).to.have.length(1)
      expect(await other.claimOnce(bucket, 'b')).to.equal(true)
      expect(await bus.claimOnce(bucket, 'b')).to.equal(false)
    })

    it('are forgotten after their time', async () => {
      await bus.declareClaims(claims(200))
      expect(await bus.claimOnce(bucket, 'a')).to.equal(true)
      expect(await bus.claimOnce(bucket, 'a')).to.equal(false)
      await eventually(() => bus.claimOnce(bucket, 'a'))
    })

    it('need their bucket, which has one time', async () => {
      expect(await rejectionOf(bus.claimOnce(bucket, 'a'))).to.be.instanceOf(AppendUnknown)
      await bus.declareClaims(claims(60_000))
      const other = bus.declareClaims(claims(61_000))
      expect(await rejectionOf(other)).to.be.instanceOf(BusMisconfigured)
    })
  })
}
