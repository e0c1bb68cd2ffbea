import { expect } from 'chai'
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { feedStream, feedSubject } from '../../bus-schemas/subjects.js'
import { InvariantBroken } from '../../core/assert.js'
import {
  ArchiveDamaged,
  listSegment,
  openFeedArchive,
  writeSegment,
  type Segment,
} from '../../data/feed-archive.js'
import type { BusMessage } from '../../runtime/bus/bus.js'
import { tempDir } from '../support/temp-dir.js'

const STREAM = feedStream('cNGN-USDC')
const FACTS = { last_change: 9, waiting: 2, reviewed_at_ms: 77, matched: ['o-1'] }

const message = (seq: number, text = `{"n": ${seq} ü}`): BusMessage => ({
  seq,
  subject: feedSubject('cNGN-USDC'),
  storedAtMs: 1_000 + seq,
  data: Buffer.from(text),
})
const range = (first: number, last: number): BusMessage[] =>
  Array.from({ length: last - first + 1 }, (_, index) => message(first + index))
const failureOf = (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => undefined,
    (error: unknown) => error,
  )

describe('the files of a feed archive', () => {
  let dir: ReturnType<typeof tempDir>
  beforeEach(() => (dir = tempDir()))
  afterEach(() => dir.remove())

  const write = (first: number, last: number, over: Partial<typeof FACTS> = {}) =>
    writeSegment(dir.path, STREAM, { messages: range(first, last), ...FACTS, ...over })
  const pathOf = (name: string) => join(dir.path, STREAM, name)
  const archive = () => openFeedArchive(dir.path)
  const seqsFrom = async (seq: number, limit: number) =>
    (await archive().read(STREAM, seq, limit)).map((found) => found.seq)
  const damageManifest = (change: (segments: Segment[]) => unknown): void => {
    const text = readFileSync(pathOf('manifest.json'), 'utf8')
    const { segments } = JSON.parse(text) as { segments: Segment[] }
    const changed = { version: 1, stream: STREAM, segments: change(segments) }
    writeFileSync(pathOf('manifest.json'), JSON.stringify(changed))
  }

  it('hold nothing before the first segment', async () => {
    const absent = openFeedArchive(join(dir.path, 'none'))
    expect(await absent.streams()).to.deep.equal([])
    expect(await archive().streams()).to.deep.equal([])
    expect(await archive().segments(STREAM)).to.deep.equal([])
    expect(await archive().read(STREAM, 1, 10)).to.deep.equal([])
  })

  it('give every message back as the stream had it, up to the end of its segment', async () => {
    await write(1, 3)
    await write(4, 6)
    expect(await archive().read(STREAM, 1, 10)).to.deep.equal(range(1, 3))
    expect(await seqsFrom(2, 1)).to.deep.equal([2])
    expect(await seqsFrom(3, 10)).to.deep.equal([3])
    expect(await seqsFrom(4, 2)).to.deep.equal([4, 5])
    expect(await seqsFrom(6, 2)).to.deep.equal([6])
    expect(await seqsFrom(7, 2)).to.deep.equal([])
  })

  it('are named by the manifest, with what the writer says of each segment', async () => {
    const first = await write(1, 3)
    const second = await write(4, 6, { waiting: 0, last_change: 12 })
    const segments = await archive().segments(STREAM)
    expect(segments).to.deep.equal([first, second])
    expect(segments[1]).to.deep.include({ ...FACTS, waiting: 0, last_change: 12 })
    expect(segments.map((each) => [each.first_seq, each.last_seq])).to.deep.equal([
      [1, 3],
      [4, 6],
    ])
    expect(first.file).to.equal(`1-3.${first.sha256.slice(0, 8)}.gz`)
    const line = gunzipSync(readFileSync(pathOf(first.file)))
      .toString()
      .split('\n')[1]
    expect(line).to.equal('2 1002 {"n": 2 ü}')
  })

  it('are of the streams with a manifest, by name', async () => {
    mkdirSync(join(dir.path, 'FEED-without'))
    for (const name of ['FEED-z', 'FEED-a'])
      await writeSegment(dir.path, name, { messages: range(1, 2), ...FACTS })
    expect(await archive().streams()).to.deep.equal(['FEED-a', 'FEED-z'])
  })

  it('have one file for a segment that is written again, and its new facts', async () => {
    const before = await write(1, 3)
    await write(4, 6)
    const messages = [message(1, 'x'), message(2, 'y'), message(3, 'z')]
    const after = await writeSegment(dir.path, STREAM, { messages, ...FACTS, waiting: 0 })
    expect(after.file).to.not.equal(before.file)
    expect(existsSync(pathOf(before.file))).to.equal(false)
    const segments = await archive().segments(STREAM)
    expect(segments.map((each) => [each.first_seq, each.waiting])).to.deep.equal([
      [1, 0],
      [4, 2],
    ])
    expect(await archive().read(STREAM, 2, 1)).to.deep.equal([message(2, 'y')])
    await listSegment(dir.path, STREAM, { ...after, waiting: 1 })
    expect((await archive().segments(STREAM))[0]?.waiting).to.equal(1)
    expect(existsSync(pathOf(after.file))).to.equal(true)
  })

  it('lose what a crash has left of a write, and nothing else', async () => {
    await write(1, 3)
    const left = ['1-3.00000000.gz', '4-6.00000000.gz.new']
    const others = ['notes.txt', 'a.gz.txt']
    for (const name of [...left, ...others]) writeFileSync(pathOf(name), '')
    await write(4, 6)
    const names = readdirSync(join(dir.path, STREAM))
    expect(names).to.include.members(others)
    expect(names.filter((name) => left.includes(name))).to.deep.equal([])
    expect(names).to.have.length(5)
  })

  it('are never written with a gap, with another range, or without messages', async () => {
    await write(1, 3)
    for (const [first, last] of [
      [5, 6],
      [3, 4],
      [1, 2],
      [2, 3],
    ] as const)
      expect(await failureOf(write(first, last)), `${first}`).to.be.instanceOf(InvariantBroken)
    const none = writeSegment(dir.path, STREAM, { messages: [], ...FACTS })
    expect(await failureOf(none)).to.be.instanceOf(InvariantBroken)
    const broken = writeSegment(dir.path, STREAM, { messages: [message(4, 'a\nb')], ...FACTS })
    expect(await failureOf(broken)).to.be.instanceOf(InvariantBroken)
    const other = tempDir()
    const late = writeSegment(other.path, STREAM, { messages: range(2, 3), ...FACTS })
    expect(await failureOf(late)).to.be.instanceOf(InvariantBroken)
    other.remove()
    expect(await archive().segments(STREAM)).to.have.length(1)
  })

  it('are damaged where the manifest has a gap or a segment that ends before it begins', async () => {
    await write(1, 3)
    await write(4, 6)
    damageManifest((segments) => segments.slice(1))
    expect(await failureOf(archive().segments(STREAM))).to.be.instanceOf(ArchiveDamaged)
    damageManifest((segments) => segments.map((each) => ({ ...each, first_seq: 4, last_seq: 3 })))
    expect(await failureOf(archive().read(STREAM, 1, 1))).to.be.instanceOf(ArchiveDamaged)
  })

  it('are damaged where the manifest is no JSON, or none of an archive', async () => {
    await write(1, 3)
    for (const text of ['', '{', '{"version": 1}', '{"version": 2, "segments": []}']) {
      writeFileSync(pathOf('manifest.json'), text)
      const failure = await failureOf(archive().segments(STREAM))
      expect(failure, text).to.be.instanceOf(ArchiveDamaged)
      expect((failure as Error).message).to.include(pathOf('manifest.json'))
    }
  })

  it('are damaged where a segment lacks messages, or has others', async () => {
    const { file } = await write(1, 3)
    damageManifest((segments) => segments.map((each) => ({ ...each, last_seq: 4 })))
    expect(await failureOf(archive().read(STREAM, 1, 1))).to.be.instanceOf(ArchiveDamaged)
    rmSync(pathOf('manifest.json'))
    rmSync(pathOf(file))
    const messages = [message(1), message(3), message(2)]
    await writeSegment(dir.path, STREAM, { messages: messages.slice(0, 3), ...FACTS })
    damageManifest((segments) => segments.map((each) => ({ ...each, last_seq: 3 })))
    expect(await failureOf(archive().read(STREAM, 1, 1))).to.be.instanceOf(ArchiveDamaged)
  })

  it('are refused to a reader when one is not the file that the manifest names, or is gone', async () => {
    const { file } = await write(1, 3)
    const bytes = readFileSync(pathOf(file))
    writeFileSync(pathOf(file), Buffer.concat([bytes, Buffer.from([0])]))
    expect(await failureOf(archive().read(STREAM, 1, 1))).to.be.instanceOf(ArchiveDamaged)
    expect(await failureOf(archive().files(STREAM).next())).to.be.instanceOf(ArchiveDamaged)
    rmSync(pathOf(file))
    const gone = await failureOf(archive().read(STREAM, 1, 1))
    expect(gone).to.be.instanceOf(ArchiveDamaged)
    expect(gone).to.have.property('message', `${pathOf(file)} is missing: restore it from a copy`)
    expect(await failureOf(archive().files(STREAM).next())).to.be.instanceOf(ArchiveDamaged)
  })

  it('are read once for the messages of a segment, and again once it was written anew', async () => {
    const first = await write(1, 3)
    await write(4, 6)
    const reader = archive()
    const [segment] = await reader.segments(STREAM)
    if (segment === undefined) throw new Error('no segment')
    const loaded = await reader.load(STREAM, segment)
    rmSync(pathOf(first.file))
    expect(await reader.load(STREAM, segment)).to.equal(loaded)
    const messages = [message(1, 'x'), message(2, 'y'), message(3, 'z')]
    const again = await writeSegment(dir.path, STREAM, { messages, ...FACTS })
    expect(await reader.load(STREAM, again)).to.deep.equal(messages)
  })

  it('go into a copy in the form that each has when its turn comes, under a manifest that names these', async () => {
    await write(1, 3)
    await write(4, 6)
    const messages = [message(4, 'x'), message(5, 'y'), message(6, 'z')]
    const copy = tempDir()
    mkdirSync(join(copy.path, STREAM))
    let count = 0
    for await (const { name, bytes } of archive().files(STREAM)) {
      count += 1
      if (count === 1) await writeSegment(dir.path, STREAM, { messages, ...FACTS })
      writeFileSync(join(copy.path, STREAM, name), bytes)
    }
    expect(count).to.equal(3)
    const copied = openFeedArchive(copy.path)
    expect(await copied.read(STREAM, 1, 9)).to.deep.equal(range(1, 3))
    expect(await copied.read(STREAM, 4, 9)).to.deep.equal(messages)
    expect(await copied.segments(STREAM)).to.deep.equal(await archive().segments(STREAM))
    copy.remove()
  })
})
