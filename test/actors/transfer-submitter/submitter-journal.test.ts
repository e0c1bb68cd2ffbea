import Sqlite from 'better-sqlite3'
import { expect } from 'chai'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { decodeJournal } from '../../../bus-schemas/journal.js'
import { journalStream } from '../../../bus-schemas/subjects.js'
import { ChainUnreachable } from '../../../chain/reads/client.js'
import type { Address, Hex } from '../../../core/action.js'
import { assert } from '../../../core/assert.js'
import { CannotStart } from '../../../core/cannot-start.js'
import { armCrashPoints } from '../../../core/crash-point.js'
import type { JournalEntry } from '../../../core/transaction-journal.js'
import type { TransferRecord } from '../../../core/transfer.js'
import { createMemoryBus, type MemoryBus } from '../../../runtime/bus/memory-bus.js'
import type { Trader } from '../../support/devnet-world.js'
import { eventually } from '../../support/eventually.js'
import { depositBody, TEN, walletOf, type SentRequest } from './requests.js'
import {
  approve,
  freshExecutor,
  freshOwner,
  PURSE,
  recordIn,
  startDeposits,
  transferStage,
  type SubmitterSetup,
  type TestSubmitter,
  type TransferStage,
} from './stage.js'

const JOURNAL = journalStream('deposit-submitter')
const SHORT_MS = 1_500
const FILES = ['deposits.db', 'deposit-transactions.db'] as const
/** More than the depth at which a transaction is final. */
const FINAL_BLOCKS = 14

/** The file as a backup copies it. */
function copyOf(path: string): Buffer {
  const db = new Sqlite(path, { readonly: true })
  try {
    return db.serialize()
  } finally {
    db.close()
  }
}

describe('the journal of a submitter on the bus', function () {
  let stage: TransferStage
  let owner: Trader
  const running: TestSubmitter[] = []
  const dirs: string[] = []

  before(async () => {
    stage = await transferStage()
  })
  beforeEach(async () => {
    owner = await freshOwner(stage)
    await approve(stage, owner.address, PURSE)
  })
  afterEach(async () => {
    await stage.world.client.setAutomine(true)
    for (const submitter of running.splice(0)) await submitter.stop()
    for (const dir of dirs.splice(0)) rmSync(dir, { recursive: true, force: true })
  })

  function newDir(): string {
    const dir = mkdtempSync(join(tmpdir(), 'journal-'))
    dirs.push(dir)
    return dir
  }
  async function start(setup: SubmitterSetup = {}): Promise<TestSubmitter> {
    const dataDir = setup.dataDir ?? newDir()
    const submitter = await startDeposits(stage, { answerWithinMs: SHORT_MS, ...setup, dataDir })
    running.push(submitter)
    return submitter
  }
  async function stop(submitter: TestSubmitter): Promise<void> {
    running.splice(running.indexOf(submitter), 1)
    await submitter.stop()
  }
  const aBody = () => depositBody(stage.world, owner)
  const sentBy = (address: Address) => stage.world.client.getTransactionCount({ address })
  const wallet = () => walletOf(stage.world, stage.world.at.usdc, owner.address)
  async function becomes(submitter: TestSubmitter, hash: Hex, status: TransferRecord['status']) {
    await eventually(async () => {
      expect(recordIn(await submitter.lookUp(hash)).status).to.equal(status)
    })
  }
  const confirmedBy = async (submitter: TestSubmitter, body: SentRequest) => {
    const record = recordIn(await submitter.ask(body))
    await becomes(submitter, record.actionHash, 'confirmed')
    return recordIn(await submitter.lookUp(record.actionHash))
  }
  /** Signed and broadcast, and not mined. */
  async function inFlight(submitter: TestSubmitter, body: SentRequest): Promise<TransferRecord> {
    await stage.world.client.setAutomine(false)
    const record = recordIn(await submitter.ask(body))
    await becomes(submitter, record.actionHash, 'submitted')
    return recordIn(await submitter.lookUp(record.actionHash))
  }
  async function mine(blocks = 1): Promise<void> {
    await stage.world.client.setAutomine(true)
    await stage.world.client.mine({ blocks })
  }

  const entriesIn = async (server: MemoryBus): Promise<JournalEntry[]> =>
    (await server.read(JOURNAL, 1, 99)).flatMap(({ data }) => decodeJournal(data).entries)

  const LOST = [
    { lost: [FILES[0]], kept: undefined },
    { lost: [FILES[1]], kept: undefined },
    { lost: FILES, kept: undefined },
    { lost: [FILES[0]], kept: 'an older copy' },
    { lost: [FILES[1]], kept: 'an older copy' },
  ] as const
  for (const { lost, kept } of LOST) {
    const what = `${lost.join(' and ')}${kept === undefined ? '' : `, of which ${kept} is left`}`
    it(`goes on without ${what}: what is settled, and what is in flight, once`, async () => {
      const first = await start()
      const older = lost.map((name) => copyOf(join(first.dataDir, name)))
      const settled = await confirmedBy(first, await aBody())
      const body = await aBody()
      const open = await inFlight(first, body)
      await stop(first)
      for (const name of lost)
        for (const end of ['', '-wal', '-shm'])
          rmSync(join(first.dataDir, `${name}${end}`), { force: true })
      if (kept !== undefined)
        lost.forEach((name, i) => writeFileSync(join(first.dataDir, name), older[i] ?? ''))

      const { dataDir, privateKey } = first
      const second = await start({ dataDir, privateKey })
      const again = recordIn(await second.lookUp(settled.actionHash))
      const { createdAtMs, updatedAtMs, ...expected } = settled
      expect(updatedAtMs).to.be.at.least(createdAtMs)
      expect(again).to.deep.include(expected)
      const repeated = recordIn(await second.ask(body))
      expect(repeated).to.include({ actionHash: open.actionHash, txHash: open.txHash })
      await mine()
      await becomes(second, open.actionHash, 'confirmed')
      expect(recordIn(await second.lookUp(open.actionHash)).txHash).to.equal(open.txHash)
      expect(await sentBy(second.address)).to.equal(2)
      expect(await wallet()).to.equal(PURSE - 2n * TEN)
    })
  }

  it('broadcasts and tells nothing that the bus has not acknowledged', async () => {
    const submitter = await start()
    const { server } = submitter
    const release = server.holdAppendAcks()
    const body = await aBody()
    // The claim is not known to last, so that nothing is claimed.
    expect(await submitter.ask(body)).to.have.property('kind', 'refused')
    expect(await sentBy(submitter.address)).to.equal(0)
    release()
    await eventually(async () => {
      expect(recordIn(await submitter.ask(body)).status).to.equal('confirmed')
    })
    expect(await sentBy(submitter.address)).to.equal(1)

    const { actionHash } = await inFlight(submitter, await aBody())
    const { lastSeq } = await server.streamState(JOURNAL)
    const releaseOutcome = server.holdAppendAcks()
    await mine()
    await eventually(async () => (await server.streamState(JOURNAL)).lastSeq > lastSeq)
    expect(recordIn(await submitter.lookUp(actionHash)).status).to.equal('submitted')
    releaseOutcome()
    await becomes(submitter, actionHash, 'confirmed')
  })

  it('does not say that nothing was submitted of a claim that it leaves in the stream', async () => {
    const first = await start()
    const { server, dataDir, privateKey } = first
    const { lastSeq } = await server.streamState(JOURNAL)
    const release = server.holdAppendAcks()
    const body = await aBody()
    const asked = first.ask(body)
    await eventually(async () => (await server.streamState(JOURNAL)).lastSeq > lastSeq)
    await stop(first)
    release()
    const answer = await asked
    expect(answer).to.have.nested.property('refusal.code', 'deposit_unknown')
    // Nor does the next submitter, which carries it out.
    const second = await start({ dataDir, privateKey })
    const { actionHash } = recordIn(await second.ask(body))
    await becomes(second, actionHash, 'confirmed')
    expect(await sentBy(second.address)).to.equal(1)
  })

  it('is taken over by a submitter on another disk, with a claim for which nothing was signed', async () => {
    const server = createMemoryBus()
    const privateKey = await freshExecutor(stage)
    const failed: unknown[] = []
    const onFatal = (error: unknown): void => void failed.push(error)
    const first = await start({ server, privateKey, onFatal })
    armCrashPoints((point) => {
      if (point === 'transfer.after_claim') throw new Error(point)
    })
    const body = await aBody()
    first.ask(body).catch(() => undefined)
    await eventually(() => failed.length > 0)
    armCrashPoints(undefined)
    await stop(first)
    const [claimed] = await entriesIn(server)
    const second = await start({ server, privateKey })
    assert(claimed?.kind === 'claimed', 'the claim is not in the stream')
    const { actionHash } = claimed.record
    await becomes(second, actionHash, 'confirmed')
    expect(recordIn(await second.ask(body))).to.include({ actionHash, status: 'confirmed' })
    expect(await sentBy(second.address)).to.equal(1)
  })

  it('is taken over by a submitter on another disk, with what it has declined', async () => {
    const server = createMemoryBus()
    const privateKey = await freshExecutor(stage)
    const first = await start({ server, privateKey })
    armCrashPoints((point) => {
      if (point === 'transfer.after_simulate') throw new ChainUnreachable('as if it did not answer')
    })
    const body = await aBody()
    expect(await first.ask(body)).to.have.property('kind', 'refused')
    armCrashPoints(undefined)
    await stop(first)
    const entries = await entriesIn(server)
    expect(entries.map(({ kind }) => kind)).to.deep.equal(['claimed', 'declined'])
    const [actionHash] = entries.flatMap((it) => (it.kind === 'declined' ? [it.actionHash] : []))
    const second = await start({ server, privateKey })
    expect(recordIn(await second.lookUp(actionHash ?? '0x')).status).to.equal('rejected')
    expect(await sentBy(second.address)).to.equal(0)
    await confirmedBy(second, body)
  })

  it('is taken over by a submitter on another disk, with what is in flight and what was told', async () => {
    const server = createMemoryBus()
    const privateKey = await freshExecutor(stage)
    const failed: unknown[] = []
    const onFatal = (error: unknown): void => void failed.push(error)
    const first = await start({ server, privateKey, onFatal })
    const settled = await confirmedBy(first, await aBody())
    let led = false
    const becoming = start({ server, privateKey }).then((submitter) => {
      led = true
      return submitter
    })
    const body = await aBody()
    const open = await inFlight(first, body)
    expect(led).to.equal(false)

    first.bus.setConnected(false)
    const second = await becoming
    // It does not answer for the owner's second deposit as if there were none.
    const busy = await second.ask(await aBody())
    expect(busy).to.have.nested.property('refusal.code', 'deposit_in_progress')
    expect(recordIn(await second.ask(body))).to.include({ txHash: open.txHash })
    const known = recordIn(await second.lookUp(settled.actionHash))
    expect(known).to.include({ status: 'confirmed', credited: settled.credited })
    await mine()
    await becomes(second, open.actionHash, 'confirmed')
    const next = await confirmedBy(second, await aBody())
    expect(next.status).to.equal('confirmed')
    expect(await sentBy(second.address)).to.equal(3)
    expect(await wallet()).to.equal(PURSE - 3n * TEN)

    // The first comes back: what it records is refused, and it ends.
    first.bus.setConnected(true)
    await eventually(() => failed.length > 0)
    await stop(first)
    // A restart follows the second's journal, and answers as it does.
    await stop(second)
    const again = await start({ server, privateKey, dataDir: first.dataDir })
    for (const { actionHash } of [settled, open, next])
      expect(recordIn(await again.lookUp(actionHash)).status).to.equal('confirmed')
    expect(await sentBy(again.address)).to.equal(3)
  })

  it('outlives a rotation of the key: what the old key has in flight is sent once, the next by the new one', async () => {
    const first = await start()
    const body = await aBody()
    const open = await inFlight(first, body)
    await stop(first)
    const { dataDir, privateKey: retiringKey } = first
    const privateKey = await freshExecutor(stage)
    const alone: unknown = await start({ dataDir, privateKey }).catch((error: unknown) => error)
    expect(alone).to.be.instanceOf(CannotStart)

    const second = await start({ dataDir, privateKey, retiringKey })
    expect(recordIn(await second.ask(body))).to.include({ txHash: open.txHash })
    await mine()
    await becomes(second, open.actionHash, 'confirmed')
    await confirmedBy(second, await aBody())
    expect(await sentBy(first.address)).to.equal(1)
    expect(await sentBy(second.address)).to.equal(1)
    await mine(FINAL_BLOCKS)
    // Nothing of the old key is needed any more; and it may come back.
    await stop(second)
    await eventually(async () => {
      const third = await start({ dataDir, privateKey: retiringKey, retiringKey: privateKey })
      await confirmedBy(third, await aBody())
      await stop(third)
    })
    expect(await sentBy(first.address)).to.equal(2)
    expect(await wallet()).to.equal(PURSE - 3n * TEN)
  })
})
