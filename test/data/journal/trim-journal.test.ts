import { expect } from 'chai'
import { cpSync } from 'node:fs'
import { encodeJournal } from '../../../bus-schemas/journal.js'
import { journalSubject } from '../../../bus-schemas/subjects.js'
import { InvariantBroken } from '../../../core/assert.js'
import { armCrashPoints } from '../../../core/crash-point.js'
import { JournalDiverged } from '../../../data/journal/journal-file.js'
import { openStoresReader } from '../../../data/inspect-stores.js'
import { openJournalReader } from '../../../data/journal/read-journal.js'
import { openRestoredJournals } from '../../../data/journal/restored-journal.js'
import { eventually } from '../../support/eventually.js'
import { blockOf, hashOf, SENDER, sign } from '../../support/journal-entries.js'
import { anUnsentTransfer } from '../../support/transfer-bodies.js'
import {
  FINGERPRINT,
  journalStage,
  LONG,
  mine,
  noncesWithBytes,
  OWNER,
  rowsOf,
  STREAM,
  type OpenedJournal,
} from './journal-stage.js'

describe('a journal that trims what is final and old', () => {
  const stage = journalStage()

  it('drops signed bytes and the messages before a snapshot, and keeps nonces, ids and outcomes (OPE-053)', async () => {
    const of = await stage.open('a')
    await stage.fill(of)
    const before = of.journal.find('m:0')
    expect(await of.published.trim(1_500)).to.equal(true)
    expect(noncesWithBytes(of.db)).to.deep.equal([1n, 2n])
    expect(of.journal.find('m:0')).to.deep.equal(before)
    expect(of.journal.nextNonce(SENDER)).to.equal(3)
    expect(() => sign(of.journal, 0, 'm:9')).to.throw()
    expect(() => sign(of.journal, 3, 'm:0')).to.throw(InvariantBroken, 'taken already')
    const entries = (await stage.messages()).flatMap((message) => message.entries)
    expect(entries).to.deep.equal([])
    await stage.stopAll()
    const { hash } = blockOf(0, 12)
    const reader = openJournalReader(stage.diskOf('a'))
    expect(reader?.find('m:0')).to.deep.equal({ status: 'success', hashes: [hash] })
    reader?.close()
    const stores = openStoresReader(stage.diskOf('a'))
    expect(stores.intents(hash).map(({ intentId }) => intentId)).to.deep.equal(['m:0'])
    stores.close()
  })

  it('gives a deleted file back from the snapshot and what came behind it, row for row', async () => {
    const of = await stage.open('a')
    await stage.fill(of)
    await of.published.trim(1_500)
    sign(of.journal, 3, 'm:3')
    await of.journal.durable()
    const rows = rowsOf(of.db)
    await stage.stopAll()
    const again = await stage.open('b')
    expect(rowsOf(again.db)).to.deep.equal(rows)
    sign(again.journal, 4, 'm:4')
    await again.journal.durable()
  })

  it('goes on from an older copy of its file, whose next messages are gone', async () => {
    const of = await stage.open('a')
    sign(of.journal, 0, 'm:0')
    await of.journal.durable()
    cpSync(stage.diskOf('a'), stage.diskOf('older'), { recursive: true })
    mine(of.journal, 0)
    of.journal.recordFinal(SENDER, [0])
    await of.published.trim(stage.nowMs + 1)
    const rows = rowsOf(of.db)
    await stage.stopAll()
    expect(rowsOf((await stage.open('older')).db)).to.deep.equal(rows)
  })

  it('is gone on with by a restore, whose copy of the file is older than what is trimmed', async () => {
    const of = await stage.open('a')
    sign(of.journal, 0, 'm:0')
    await of.journal.durable()
    cpSync(stage.diskOf('a'), stage.diskOf('older'), { recursive: true })
    mine(of.journal, 0)
    of.journal.recordFinal(SENDER, [0])
    sign(of.journal, 1, 'm:1')
    await of.published.trim(stage.nowMs + 1)
    await stage.stopAll()
    const journals = await openRestoredJournals(stage.diskOf('older'), stage.bus)
    const foreign = { sender: SENDER, evmNonce: 9, by: blockOf(9, 14) }
    await journals.recordForeign('executor.db', foreign)
    await journals.close()
    const { journal } = await stage.open('older')
    expect(journal.nextNonce(SENDER)).to.equal(10)
    expect(journal.find('m:0')?.state.kind).to.equal('mined')
    expect(journal.find('m:1')?.state.kind).to.equal('open')
  })

  it('is followed by a standby through a trim', async () => {
    const of = await stage.open('a')
    await stage.fill(of)
    const becoming = stage.open('b')
    await of.published.trim(1_500)
    sign(of.journal, 3, 'm:3')
    await of.journal.durable()
    const rows = rowsOf(of.db)
    await stage.opened.splice(0, 1)[0]?.published?.stop()
    of.db.close()
    expect(rowsOf((await becoming).db)).to.deep.equal(rows)
  })

  it('records on while the snapshot is written, and holds none of that in it', async () => {
    const of = await stage.open('a')
    await stage.fill(of)
    armCrashPoints((point) => {
      if (point === 'trim.in_snapshot') sign(of.journal, 3, 'm:3')
      if (point === 'trim.in_snapshot') armCrashPoints(undefined)
    })
    await of.published.trim(1_500)
    await of.journal.durable()
    const found = await stage.messages()
    expect(found.filter(({ snapshot }) => snapshot !== undefined)).to.have.lengthOf.above(1)
    expect(found.flatMap(({ entries }) => entries).map(({ kind }) => kind)).to.include('signed')
    const rows = rowsOf(of.db)
    await stage.stopAll()
    expect(rowsOf((await stage.open('b')).db)).to.deep.equal(rows)
  })

  it('drops the requests of transfers that are over, and keeps their records and hashes', async () => {
    const of = await stage.open('a')
    const [sent, declined, pending, young] = [1, 2, 3, 4].map((n) =>
      anUnsentTransfer({ actionHash: hashOf(n) }),
    )
    for (const record of [sent, declined, pending]) of.claims.recordClaim(record!, 'its request')
    sign(of.journal, 0, `deposit:${hashOf(1)}`)
    sign(of.journal, 1, `permit:${hashOf(3)}`)
    for (const evmNonce of [0, 1]) mine(of.journal, evmNonce)
    of.journal.recordFinal(SENDER, [0, 1])
    of.claims.recordDecline(hashOf(2), { error: 'no' })
    stage.nowMs = 2_000
    of.claims.recordClaim(young!, 'its request')
    of.claims.recordDecline(hashOf(4), { error: 'no' })
    await of.published.trim(1_500)
    const found = [...of.claims.claimsAfter(0)].map(({ record, request }) => [record, request])
    expect(found).to.have.deep.members([
      ...[
        [sent, ''],
        [declined, ''],
        [pending, 'its request'],
        [young, 'its request'],
      ],
    ])
    expect(() => of.claims.recordClaim(sent!, 'again')).to.throw(InvariantBroken)
    of.claims.recordClaim(declined!, 'again')
    await of.journal.durable()
  })

  it('says what is lost where the chain has lost what is trimmed', async () => {
    const of = await stage.open('a')
    await stage.fill(of)
    await of.published.trim(1_500)
    expect(() => of.journal.reopen(SENDER, [0])).to.throw(InvariantBroken, 'bytes are trimmed')
    of.journal.reopen(SENDER, [2])
    await of.journal.durable()
  })

  it('looks by itself, and trims once enough of the stream is old', async () => {
    const trimming = { keptMs: 500, lookEveryMs: 1, leastMessages: 4 }
    const { journal } = await stage.open('a', { trimming })
    let looks = 0
    const { bus } = stage
    const streamState = bus.streamState.bind(bus)
    bus.streamState = (name) => {
      looks += 1
      return streamState(name)
    }
    const append = async (n: number): Promise<void> => {
      journal.recordRefusal(`m:${n}`, FINGERPRINT, 'no')
      await journal.durable()
    }
    const isTrimmed = async () => (await streamState(STREAM)).firstSeq > 1
    const someLooks = () => {
      const before = looks
      return eventually(() => looks > before + 3)
    }
    for (const n of [1, 2, 3]) await append(n)
    stage.nowMs += 501
    await someLooks()
    expect(await isTrimmed()).to.equal(false)
    await append(4)
    await someLooks()
    expect(await isTrimmed()).to.equal(false)
    stage.nowMs += 501
    await eventually(isTrimmed)
  })

  it('is refused where its stream begins behind no snapshot', async () => {
    const of = await stage.open('a')
    await stage.fill(of)
    await stage.stopAll()
    await stage.bus.trim(STREAM, 3)
    const failure: unknown = await stage.open('b').catch((error: unknown) => error)
    expect(failure).to.be.instanceOf(JournalDiverged)
    expect(String(failure)).to.include('no whole snapshot')
    // The file that has it all goes on.
    await stage.stopAll()
    expect((await stage.open('a')).journal.nextNonce(SENDER)).to.equal(3)
  })

  it('is refused with the file of another stream that ends where the snapshot begins', async () => {
    const other = await stage.open('other')
    for (const n of [1, 2]) {
      sign(other.journal, n, `m:${n}`)
      await other.journal.durable()
    }
    await stage.stopAll()
    stage.bus = stage.newBus()
    const of = await stage.open('a')
    sign(of.journal, 0, 'm:0')
    mine(of.journal, 0)
    of.journal.recordFinal(SENDER, [0])
    await of.journal.durable()
    await of.published.trim(stage.nowMs + 1)
    expect((await stage.bus.streamState(STREAM)).firstSeq).to.equal(4)
    await stage.stopAll()
    const failure: unknown = await stage.open('other').catch((error: unknown) => error)
    expect(failure).to.be.instanceOf(JournalDiverged)
    expect(String(failure)).to.include('holds another message 3')
  })

  it('is refused where the snapshot lacks a part, and keeps its file', async () => {
    const of = await stage.open('a')
    sign(of.journal, 0, 'm:0')
    await of.journal.durable()
    cpSync(stage.diskOf('a'), stage.diskOf('older'), { recursive: true })
    await fillLong(of)
    await of.published.trim(stage.nowMs)
    await stage.stopAll()
    const whole = await stage.messages()
    const firstSeq = (await stage.bus.streamState(STREAM)).firstSeq
    const parts = whole.filter(({ snapshot }) => snapshot !== undefined)
    stage.bus = stage.newBus()
    await stage.bus.declareStream({
      stream: STREAM,
      subject: journalSubject(OWNER),
      description: '',
    })
    const filler = encodeJournal({ term: 1, writer: 'w', entries: [] })
    for (let seq = 1; seq < firstSeq; seq += 1)
      await stage.bus.append(journalSubject(OWNER), filler)
    for (const message of whole)
      if (message !== parts[1])
        await stage.bus.append(journalSubject(OWNER), encodeJournal(message))
    await stage.bus.trim(STREAM, firstSeq)
    const failure: unknown = await stage.open('older').catch((error: unknown) => error)
    expect(failure).to.be.instanceOf(JournalDiverged)
    const [{ db }] = stage.opened as [(typeof stage.opened)[number]]
    expect(db.prepare('SELECT count(*) FROM intents').pluck().get()).to.equal(1n)
  })
  const fillLong = async ({ journal }: OpenedJournal): Promise<void> => {
    for (const n of [1, 2, 3, 4]) journal.recordRefusal(`long:${n}`, FINGERPRINT, LONG)
    await journal.durable()
  }
})
