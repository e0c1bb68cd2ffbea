import { expect } from 'chai'
import type { OpenTransaction } from '../../core/transaction-journal.js'
import { JournalIncomplete } from '../../chain/sender/transaction-sender.js'
import type { Hex } from '../../core/action.js'
import { AlreadyLocked } from '../../data/open.js'
import { ONE, signOrder } from '../support/devnet-actions.js'
import { balanceOf, openWorld, type World } from '../support/devnet-world.js'
import { eventually } from '../support/eventually.js'
import { executeBody, removeDir, startExecutor, temporaryDir } from '../support/executor-world.js'

const AMOUNT = 1_000n * ONE

describe('executor after a crash', () => {
  let world: World
  let dataDir: string

  before(async () => {
    world = await openWorld()
  })
  beforeEach(async () => {
    dataDir = await temporaryDir()
  })
  afterEach(() => removeDir(dataDir))
  after(() => world.anvil.stop())

  async function aBody() {
    const taker = await signOrder(world, world.alice, { isBid: true })
    const maker = await signOrder(world, world.bob, { isBid: false })
    return executeBody({ taker, makers: [maker], amount: AMOUNT })
  }

  const cngnOfAlice = () => balanceOf(world, world.alice.subaccountId, world.at.wrapped_cngn)

  const receiptOf = (hash: Hex) =>
    world.client.getTransactionReceipt({ hash }).catch(() => undefined)

  /** An executor that dies between the journal and the broadcast: the request has no answer, the bytes are on disk. */
  async function crashAfterJournal(body: unknown, key: string): Promise<OpenTransaction> {
    let journaled: OpenTransaction | undefined
    const dying = await startExecutor(world, {
      dataDir,
      facts: {
        journaled: (transaction) => {
          journaled = transaction
          throw new Error('killed')
        },
      },
    })
    expect((await dying.post(body, key)).status).to.equal(500)
    await dying.stop()
    if (journaled === undefined) throw new Error('nothing was journaled')
    return journaled
  }

  it('sends the same bytes after dying between journal and broadcast (OPE-033)', async () => {
    const body = await aBody()
    const before = await cngnOfAlice()
    const { attempts, evmNonce } = await crashAfterJournal(body, 'm:1')
    const hash = attempts[0]?.hash ?? '0x'
    expect(await receiptOf(hash)).to.equal(undefined)

    const restarted = await startExecutor(world, { dataDir })
    await eventually(async () => (await receiptOf(hash)) !== undefined)
    const answer = await restarted.post(body, 'm:1')
    await restarted.stop()
    expect(answer.body).to.include({ tx_hash: hash, receipt_status: 'success' })
    expect(restarted.journaled).to.deep.equal([])
    expect(await cngnOfAlice()).to.equal(before + AMOUNT)
    const { nonce } = await world.client.getTransaction({ hash })
    expect(nonce).to.equal(evmNonce)
  })

  it('goes on behind the nonces that the journal claimed', async () => {
    await crashAfterJournal(await aBody(), 'm:1')
    const restarted = await startExecutor(world, { dataDir })
    const bodies = [await aBody(), await aBody()]
    for (const [i, body] of bodies.entries()) {
      const answer = await restarted.post(body, `m:${i + 2}`)
      expect(answer.body).to.include({ receipt_status: 'success' })
    }
    await restarted.stop()
  })

  it('does not send again what was answered before', async () => {
    const body = await aBody()
    const first = await startExecutor(world, { dataDir })
    const { body: answered } = await first.post(body, 'm:1')
    await first.stop()
    const before = await world.client.getTransactionCount({ address: world.executor })
    const second = await startExecutor(world, { dataDir })
    expect((await second.post(body, 'm:1')).body).to.deep.equal(answered)
    await second.stop()
    const after = await world.client.getTransactionCount({ address: world.executor })
    expect(after).to.equal(before)
  })

  it('sends again what the chain forgot, in the order of nonces and as the same bytes', async () => {
    const snapshot = await world.client.snapshot()
    const first = await startExecutor(world, { dataDir })
    const bodies = [await aBody(), await aBody()]
    for (const [i, body] of bodies.entries()) await first.post(body, `m:${i}`)
    await first.stop()
    await world.client.revert({ id: snapshot })
    const hashes = first.journaled
    for (const hash of hashes) expect(await receiptOf(hash)).to.equal(undefined)

    const second = await startExecutor(world, { dataDir })
    const statusOf = async (index: number) => (await receiptOf(hashes[index] ?? '0x'))?.status
    await eventually(async () => (await statusOf(0)) === 'success')
    await eventually(async () => (await statusOf(1)) === 'success')
    const answer = await second.post(bodies[1], 'm:1')
    await second.stop()
    expect(answer.body).to.include({ receipt_status: 'success', tx_hash: hashes[1] })
  })

  it('notices while running that the chain forgot a settlement', async () => {
    let reopened = 0
    const snapshot = await world.client.snapshot()
    const facts = { reopened: (count: number) => (reopened += count) }
    const executor = await startExecutor(world, { dataDir, facts })
    const { body } = await executor.post(await aBody(), 'm:1')
    await world.client.revert({ id: snapshot })
    const hash = body.tx_hash as Hex
    await eventually(() => reopened === 1)
    await eventually(async () => (await receiptOf(hash))?.status === 'success')
    await executor.stop()
  })

  it('does not start without the journal of what its key has sent, by default', async () => {
    const first = await startExecutor(world, { dataDir, acceptNonces: Infinity })
    expect((await first.post(await aBody(), 'm:1')).status).to.equal(200)
    await first.stop()
    const kept = await startExecutor(world, { dataDir, acceptNonces: 0 })
    await kept.stop()

    const empty = await temporaryDir()
    const minedNonces = await world.client.getTransactionCount({ address: world.executor })
    const lost = (acceptNonces: number) =>
      startExecutor(world, { dataDir: empty, acceptNonces }).catch((error: unknown) => error)
    const refused = await lost(minedNonces - 1)
    expect(refused).to.be.instanceOf(JournalIncomplete)
    const facts = `the chain has mined ${minedNonces} transactions of ${world.executor}, the journal has 0`
    expect((refused as Error).message).to.include(facts)
    const told = await startExecutor(world, { dataDir: empty, acceptNonces: minedNonces })
    await told.stop()
    await removeDir(empty)
  })

  it('keeps the journal to itself', async () => {
    const first = await startExecutor(world, { dataDir })
    const second = await startExecutor(world, { dataDir }).catch((error: unknown) => error)
    expect(second).to.be.instanceOf(AlreadyLocked)
    await first.stop()
    const third = await startExecutor(world, { dataDir })
    await third.stop()
  })
})
