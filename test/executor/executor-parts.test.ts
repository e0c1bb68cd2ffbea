import { expect } from 'chai'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { createTransactionSigner } from '../../chain/signing/keys.js'
import { E18, quoteE18 } from '../../core/money.js'
import { askLead } from '../../bus-schemas/subjects.js'
import { AT, allow, CHAIN_ID, setBalance } from '../sim/chain-state.js'
import { accountsIn } from '../sim/traders.js'
import { eventually } from '../support/eventually.js'
import { matchPayload } from '../support/simulated-match.js'
import { DEPLOYED, executorRig, SIGNER, SPOT, TRADERS } from './executor-rig.js'

const ann = TRADERS[0]!
const bob = TRADERS[1]!
const successor = createTransactionSigner(`0x${'e8'.repeat(32)}`, CHAIN_ID)

describe('the parts of an executor', () => {
  const rig = executorRig()
  const payload = (amount = E18) => matchPayload(SPOT, [ann, bob], amount)
  /** Until the node was asked so often again: longer than a settlement that waits for nothing takes to be sent. */
  const asked = (count: number) => {
    const before = rig.proxy.asked.length
    return eventually(() => rig.proxy.asked.length >= before + count)
  }

  it('tell which match of a batch the chain refused', async () => {
    const executor = await rig.open({ windowMs: 20 })
    const answering = [
      executor.execute(payload(), 'm:1'),
      executor.execute(payload(40n * E18), 'm:2'),
    ]
    await rig.pooled()
    rig.chain.happen((state) => setBalance(state, accountsIn(ann, SPOT)[0]!, AT.usdc, 2n * E18))
    await rig.mineAll()
    const results = (await Promise.all(answering)).map((answer) =>
      answer.kind === 'mined' ? answer.transaction : undefined,
    )
    expect(results.map((result) => result?.status)).to.deep.equal(['success', 'reverted'])
    expect(results[1]?.revert).to.equal('WERC_CannotBeNegative')
    expect(rig.sentTo()).to.have.length(1)
  })

  for (const [what, options] of [
    ['the window is over', { windowMs: 1_500 }],
    [
      'another one of its accounts has come, when its fee is small',
      { shareBelowFee: quoteE18(E18) },
    ],
  ] as const)
    it(`let a settlement wait until ${what}`, async () => {
      const executor = await rig.open(options)
      const first = executor.execute(payload(), 'm:1')
      await eventually(() => executor.waiting() === 1)
      await asked(4)
      const second = executor.execute(payload(), 'm:2')
      await rig.pooled()
      expect(executor.waiting()).to.equal(0)
      await rig.mineAll()
      for (const answer of await Promise.all([first, second]))
        expect(answer.kind === 'mined' && answer.transaction.status).to.equal('success')
      expect(rig.sentTo()).to.have.length(1)
    })

  it('tell the balance of the key', async () => {
    expect(await (await rig.open()).readBalance()).to.equal(10n ** 24n)
  })

  it('tell that the chain is silent before anything that follows from it', async () => {
    rig.chain.happen((state) => state.rights.clear())
    rig.chain.mine()
    const executor = await rig.open()
    const real = performance.now.bind(performance)
    const troubleAfter = (ms: number) => {
      const now = real()
      performance.now = () => now + ms
      try {
        return executor.trouble()
      } finally {
        performance.now = real
      }
    }
    expect(troubleAfter(0)).to.match(/is not an operator of/)
    expect(troubleAfter(5_001)).to.equal('the chain does not answer')
  })

  it('tell that the bus does not take the journal, and give no reversals before it has', async () => {
    const executor = await rig.open()
    rig.bus.loseNextAppend()
    const release = rig.bus.holdAppendAcks()
    const answering = executor.execute(payload(), 'm:1')
    await eventually(() => executor.trouble() === 'the bus does not take the journal')
    let isRead = false
    const reading = executor.readReversals(0, 10).then(() => (isRead = true))
    await asked(12)
    expect([isRead, rig.chain.poolSize()]).to.deep.equal([false, 0])
    release()
    await reading
    await rig.pooled()
    await eventually(() => executor.trouble() === undefined)
    await rig.mineAll()
    expect((await answering).kind).to.equal('mined')
  })

  it('tell no hash of a transaction that the journal on the bus may lack', async () => {
    const executor = await rig.open({ timeoutMs: 300 })
    const release = rig.bus.holdAppendAcks()
    const match = payload()
    const answers = [await executor.execute(match, 'm:1')]
    // The second asks about what the first has signed.
    answers.push(await executor.execute(match, 'm:1'))
    expect(answers.map(({ kind }) => kind)).to.deep.equal(['unavailable', 'unavailable'])
    release()
    await rig.pooled()
    const told = await executor.execute(match, 'm:1')
    expect(told).to.have.property('hash')
    await rig.mineAll()
  })

  it('wait at the start for a chain that does not answer', async () => {
    let fails = true
    rig.proxy.fateOf = () => (fails ? { error: 'starting' } : 'pass')
    const opening = rig.open()
    await eventually(() => rig.told.length > 0)
    expect(rig.told.map(([fact]) => fact)).to.deep.equal(['waitingForChain'])
    fails = false
    await opening
  })

  it('leave file, lock and bus behind as they found them, also after a start that failed', async () => {
    const isClosed = async () => {
      const question = rig.bus.ask(askLead('executor'), new Uint8Array(), 100)
      expect(await question.catch((error: unknown) => error)).to.have.property('name', 'NoAnswer')
      // SQLite removes it with the last connection.
      expect(existsSync(join(rig.dir, 'executor.db-wal'))).to.equal(false)
    }
    const elsewhere = { deployment: { ...DEPLOYED, chainId: 5 } }
    const failure: unknown = await rig.open(elsewhere).catch((error: unknown) => error)
    expect(failure).to.have.property('name', 'DeploymentMismatch')
    await isClosed()
    const executor = await rig.open()
    expect(existsSync(join(rig.dir, 'executor.db-wal'))).to.equal(true)
    await rig.close(executor)
    await isClosed()
  })

  it('let a new key wait until the chain has what the old one has sent', async () => {
    const first = await rig.open()
    const cut = first.execute(payload(40n * E18), 'm:1')
    await rig.pooled()
    await rig.close(first)
    await cut
    rig.chain.happen((state) => allow(state, AT.batchExecutor, successor.address))
    const second = await rig.open({ signers: { current: successor, retiring: SIGNER } })
    const poorer = second.execute(payload(40n * E18), 'm:2')
    await asked(40)
    expect(second.waiting()).to.equal(1)
    await rig.mineAll()
    // Of the buyer's 60 USDC the old key's match has left too little, which was not judged before.
    expect(await poorer).to.include({ kind: 'refused', revert: 'WERC_CannotBeNegative' })
    expect(rig.told.map(([fact]) => fact)).not.to.include('deferred')
  })
})
