import { expect } from 'chai'
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { DeploymentMismatch } from '../../chain/reads/deployment.js'
import { JournalIncomplete } from '../../chain/sender/transaction-sender.js'
import type { Market } from '../../core/model/market.js'
import { E18 } from '../../core/money.js'
import { AlreadyLocked } from '../../data/open.js'
import { AT } from '../sim/chain-state.js'
import { eventually } from '../support/eventually.js'
import { matchPayload } from '../support/simulated-match.js'
import { DEPLOYED, executorRig, SPOT, TRADERS } from './executor-rig.js'

const NOWHERE = `0x${'99'.repeat(20)}` as const
const ann = TRADERS[0]!
const bob = TRADERS[1]!

describe('an executor that is opened', () => {
  const rig = executorRig()
  const payload = (amount = E18) => matchPayload(SPOT, [ann, bob], amount)

  for (const batches of [true, false]) {
    it(`settles a match ${batches ? 'in a batch' : 'by itself'}, once for its key`, async () => {
      const executor = await rig.open(batches ? {} : { deployment: DEPLOYED })
      const asked = payload()
      const answering = executor.execute(asked, 'm:1')
      expect(executor.isKnown('m:1')).to.equal(true)
      await rig.pooled()
      await rig.mineAll()
      const answer = await answering
      expect(answer.kind === 'mined' && answer.transaction.status).to.equal('success')
      expect(await executor.execute(asked, 'm:1')).to.deep.equal(answer)
      expect(await executor.execute(payload(), 'm:1')).to.deep.equal({ kind: 'mismatch' })
      expect(rig.sentTo()).to.deep.equal([batches ? AT.batchExecutor : AT.matching])
      expect([executor.isKnown('m:2'), executor.isRunning('m:1')]).to.deep.equal([false, false])
      expect(await executor.readReversals(0, 10)).to.deep.equal([])
      expect(executor.trouble()).to.equal(undefined)
    })
  }

  it('knows after it was opened again what it has in flight', async () => {
    const first = await rig.open()
    const asked = payload(40n * E18)
    const cut = first.execute(asked, 'm:1')
    await rig.pooled()
    await rig.close(first)
    expect((await cut).kind).to.be.oneOf(['timeout', 'unknown'])

    const second = await rig.open()
    expect(rig.told.filter(([fact]) => fact === 'senderOpened').at(-1)?.[1]).to.include({ open: 1 })
    const again = second.execute(asked, 'm:1')
    const poorer = second.execute(payload(40n * E18), 'm:2')
    // Of the buyer's 60 USDC the match in flight leaves too little.
    await eventually(() => rig.told.some(([fact, id]) => fact === 'deferred' && id === 'm:2'))
    await rig.mineAll()
    const answer = await again
    expect(answer.kind === 'mined' && answer.transaction.status).to.equal('success')
    expect(await poorer).to.include({ kind: 'refused', revert: 'WERC_CannotBeNegative' })
    expect(rig.sentTo()).to.have.length(1)
  })

  it('has its journal alone, and leaves it to the next one', async () => {
    const first = await rig.open()
    const failure: unknown = await rig.open().catch((error: unknown) => error)
    expect(failure).to.be.instanceOf(AlreadyLocked)
    await rig.close(first)
    await rig.open()
  })

  it('does not start on another chain, nor without its contracts, and leaves its journal free (OPE-032)', async () => {
    for (const [deployment, words] of [
      [{ ...DEPLOYED, chainId: 5 }, 'the deployment is on chain 5'],
      [{ ...DEPLOYED, matching: NOWHERE }, 'no contract at matching'],
      [{ ...DEPLOYED, subAccounts: NOWHERE }, 'no contract at subAccounts'],
      [{ ...DEPLOYED, batchExecutor: NOWHERE }, 'no contract at batchExecutor'],
    ] as const) {
      const failure: unknown = await rig.open({ deployment }).catch((error: unknown) => error)
      expect(failure).to.be.instanceOf(DeploymentMismatch)
      expect((failure as Error).message).to.include(words)
    }
    await rig.open()
  })

  it('does not start on a journal that lacks what its key has sent', async () => {
    rig.chain.sendForeign()
    await rig.mineAll()
    const failure: unknown = await rig.open({ acceptNonces: 0 }).catch((error: unknown) => error)
    expect(failure).to.be.instanceOf(JournalIncomplete)
    await rig.open({ acceptNonces: 1 })
  })

  it('starts without a few transactions that its journal lacks, unless one may have settled matches', async () => {
    const first = await rig.open({ acceptNonces: 0 })
    const answering = first.execute(payload(), 'm:1')
    await rig.pooled()
    await rig.mineAll()
    await answering
    await rig.close(first)
    rig.chain.sendForeign()
    await rig.mineAll()
    const second = await rig.open({ acceptNonces: 0 })
    expect(second.trouble()).to.include('a foreign transaction used nonce 1')
    await rig.close(second)
    rig.chain.sendForeign(AT.batchExecutor)
    await rig.mineAll()
    rig.chain.sendForeign()
    await rig.mineAll()
    const failure: unknown = await rig.open({ acceptNonces: 0 }).catch((error: unknown) => error)
    expect(failure).to.be.instanceOf(JournalIncomplete)
    await rig.open({ acceptNonces: 4 })
  })

  it('rebuilds a deleted journal from the bus, and settles nothing twice', async () => {
    const first = await rig.open({ acceptNonces: 0 })
    const asked = payload()
    const answering = first.execute(asked, 'm:1')
    await rig.pooled()
    await rig.mineAll()
    const answer = await answering
    const cut = first.execute(payload(), 'm:2')
    await rig.pooled()
    await rig.close(first)
    await cut
    for (const end of ['', '-wal', '-shm'])
      rmSync(join(rig.dir, `executor.db${end}`), { force: true })

    const second = await rig.open({ acceptNonces: 0 })
    expect(await second.execute(asked, 'm:1')).to.deep.equal(answer)
    expect(second.isKnown('m:2')).to.equal(true)
    expect(await second.execute(payload(), 'm:1')).to.deep.equal({ kind: 'mismatch' })
    await rig.mineAll()
    expect(rig.sentTo()).to.have.length(2)
  })

  it('starts without the module of one market, and says that of it alone', async () => {
    const other = { ...SPOT, market: 'OTHER', tradeModuleAddress: NOWHERE } as Market
    const executor = await rig.open({ markets: [other, SPOT] })
    expect(Object.fromEntries(executor.faults.standing() ?? [])).to.deep.equal({
      OTHER: 'wrong_wiring',
    })
    expect(executor.trouble()).to.equal(undefined)
  })

  it('names the right that it lacks as its trouble', async () => {
    rig.chain.happen((state) => state.rights.clear())
    rig.chain.mine()
    const executor = await rig.open()
    expect(executor.trouble()).to.match(/is not an operator of 0x(ba)+: allow it there$/)
  })

  it('answers what waits when it is stopped, and takes nothing more', async () => {
    const executor = await rig.open()
    const cut = executor.execute(payload(), 'm:1')
    await rig.pooled()
    await executor.stop()
    expect((await cut).kind).to.be.oneOf(['timeout', 'unknown'])
    expect(await executor.execute(payload(), 'm:2')).to.deep.equal({
      kind: 'unavailable',
      why: 'the executor is stopping',
    })
  })
})
