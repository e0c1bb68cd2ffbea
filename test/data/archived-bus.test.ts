import { expect } from 'chai'
import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { feedStream, feedSubject } from '../../bus-schemas/subjects.js'
import { withArchive } from '../../data/archived-bus.js'
import { ArchiveDamaged, writeSegment } from '../../data/feed-archive.js'
import { MessagesGone, type Bus, type BusMessage } from '../../runtime/bus/bus.js'
import { createMemoryBus, type MemoryBus } from '../../runtime/bus/memory-bus.js'
import { eventually } from '../support/eventually.js'
import { tempDir } from '../support/temp-dir.js'

const STREAM = feedStream('cNGN-USDC')
const SUBJECT = feedSubject('cNGN-USDC')
const FACTS = { last_change: 0, waiting: 0, reviewed_at_ms: 0, matched: [] }

describe('a feed with its archive', () => {
  let dir: ReturnType<typeof tempDir>
  let bus: MemoryBus
  let feed: Bus
  beforeEach(async () => {
    dir = tempDir()
    bus = createMemoryBus({ nowMs: () => 5 })
    await bus.declareStream({ stream: STREAM, subject: SUBJECT, description: 'test' })
    feed = withArchive(bus, dir.path)
  })
  afterEach(async () => {
    await bus.close()
    dir.remove()
  })

  const append = async (count: number): Promise<void> => {
    for (let at = 0; at < count; at += 1) await bus.append(SUBJECT, Buffer.from('stream'))
  }
  /** Other texts than the stream has: a test sees which of them was read. */
  const archive = (first: number, last: number, text = 'archive') =>
    writeSegment(dir.path, STREAM, {
      ...FACTS,
      messages: Array.from({ length: last - first + 1 }, (_, index) => ({
        seq: first + index,
        subject: SUBJECT,
        storedAtMs: 5,
        data: Buffer.from(text),
      })),
    })
  const shown = ({ seq, data }: BusMessage) => `${seq} ${Buffer.from(data).toString()}`
  const read = async (from: number, limit = 9) => (await feed.read(STREAM, from, limit)).map(shown)
  const failureOf = (work: Promise<unknown>): Promise<unknown> =>
    work.then(
      () => undefined,
      (error: unknown) => error,
    )

  function follow(fromSeq: number, over: Partial<Parameters<Bus['follow']>[0]> = {}) {
    const seen: string[] = []
    const errors: Error[] = []
    const started = feed.follow({
      stream: STREAM,
      fromSeq,
      onMessage: (message) => void seen.push(shown(message)),
      onError: (error) => errors.push(error),
      ...over,
    })
    return { seen, errors, started }
  }

  it('is the bus itself without a directory', () => {
    expect(withArchive(bus, undefined)).to.equal(bus)
  })

  it('begins with its first message where the archive reaches the stream, else where the stream does', async () => {
    await append(6)
    await bus.trim(STREAM, 4)
    expect(await feed.streamState(STREAM)).to.deep.equal({ firstSeq: 4, lastSeq: 6 })
    await archive(1, 2)
    expect((await feed.streamState(STREAM)).firstSeq).to.equal(4)
    await archive(3, 3)
    expect(await feed.streamState(STREAM)).to.deep.equal({ firstSeq: 1, lastSeq: 6 })
    await archive(4, 5)
    expect(await feed.streamState(STREAM)).to.deep.equal({ firstSeq: 1, lastSeq: 6 })
  })

  it('is read from the archive as far as that goes, also where the stream has it', async () => {
    await append(4)
    await archive(1, 2)
    expect(await read(1)).to.deep.equal(['1 archive', '2 archive'])
    expect(await read(2, 1)).to.deep.equal(['2 archive'])
    expect(await read(3)).to.deep.equal(['3 stream', '4 stream'])
    expect(await read(3, 1)).to.deep.equal(['3 stream'])
    expect(await read(5)).to.deep.equal([])
  })

  it('is read without a look at the files beyond the end that was seen, and again once the stream is trimmed', async () => {
    await append(4)
    await archive(1, 2)
    await read(1)
    await archive(3, 3)
    expect(await read(3)).to.deep.equal(['3 stream', '4 stream'])
    await bus.trim(STREAM, 4)
    expect(await read(3)).to.deep.equal(['3 archive'])
    expect(await read(4)).to.deep.equal(['4 stream'])
  })

  it('lacks what neither has, and says of a bus that fails why', async () => {
    await append(6)
    await archive(1, 2)
    await bus.trim(STREAM, 5)
    expect(await failureOf(read(3))).to.be.instanceOf(MessagesGone)
    expect(await read(1)).to.have.length(2)
    expect(await failureOf(read(3))).to.be.instanceOf(MessagesGone)
    const failure = new Error('no such luck')
    const failing = withArchive({ ...bus, read: () => Promise.reject(failure) }, dir.path)
    expect(await failureOf(failing.read(STREAM, 3, 1))).to.equal(failure)
  })

  it('leaves all else to the bus', async () => {
    await feed.append(SUBJECT, Buffer.from('stream'))
    expect((await bus.streamState(STREAM)).lastSeq).to.equal(1)
    expect(await feed.lastMessage(STREAM)).to.deep.equal(await bus.lastMessage(STREAM))
  })

  it('is followed through the archive into the stream', async () => {
    await append(4)
    await archive(1, 2)
    await bus.trim(STREAM, 3)
    const { seen, errors, started } = follow(2)
    const following = await started
    await eventually(() => seen.length === 3)
    await append(1)
    await eventually(() => seen.length === 4)
    expect(seen).to.deep.equal(['2 archive', '3 stream', '4 stream', '5 stream'])
    await following.stop()
    await append(1)
    await new Promise(setImmediate)
    expect(seen).to.have.length(4)
    expect(errors).to.deep.equal([])
  })

  it('is followed in the stream alone from behind the archive', async () => {
    await append(4)
    await archive(1, 2)
    const { seen, errors, started } = follow(3)
    const following = await started
    await eventually(() => seen.length === 2)
    expect(seen).to.deep.equal(['3 stream', '4 stream'])
    await following.stop()
    expect(errors).to.deep.equal([])
  })

  it('passes one message at a time, and none after it was stopped', async () => {
    await append(4)
    await archive(1, 4)
    const seqs: number[] = []
    let release: () => void = () => undefined
    const { errors, started } = follow(1, {
      onMessage: ({ seq }) => {
        seqs.push(seq)
        return new Promise((resolve) => (release = resolve))
      },
    })
    const following = await started
    await eventually(() => seqs.length === 1)
    release()
    await eventually(() => seqs.length === 2)
    const stopping = following.stop()
    release()
    await stopping
    expect(seqs).to.deep.equal([1, 2])
    expect(errors).to.deep.equal([])
  })

  /** A follower that has two messages of the feed; four more came after it was cut off. */
  async function followedAndCutOff() {
    await append(2)
    const line = bus.connect()
    feed = withArchive(line, dir.path)
    const { seen, errors, started } = follow(1)
    const following = await started
    await eventually(() => seen.length === 2)
    line.setConnected(false)
    await append(4)
    return { line, seen, errors, following }
  }

  it('is followed across a trim that went beyond the follower while it was cut off', async () => {
    const { line, seen, errors, following } = await followedAndCutOff()
    await archive(1, 4)
    await bus.trim(STREAM, 5)
    line.setConnected(true)
    await eventually(() => seen.length === 6)
    expect(seen.slice(2)).to.deep.equal(['3 archive', '4 archive', '5 stream', '6 stream'])
    expect(errors).to.deep.equal([])
    await following.stop()
  })

  it('ends for its follower once neither holds the next message', async () => {
    const { line, seen, errors, following } = await followedAndCutOff()
    await archive(1, 2)
    await bus.trim(STREAM, 5)
    line.setConnected(true)
    await eventually(() => errors.length > 0)
    expect(errors[0]).to.be.instanceOf(MessagesGone)
    await following.stop()
    expect(seen).to.have.length(2)
    expect(errors).to.have.length(1)
  })

  it('ends with the error of its handler, in the archive and in the stream', async () => {
    await append(4)
    await archive(1, 2)
    for (const [fromSeq, failing] of [
      [1, 2],
      [3, 4],
      [1, 4],
    ] as const) {
      const failure = new Error('refused')
      const seqs: number[] = []
      const { errors, started } = follow(fromSeq, {
        onMessage: ({ seq }) => {
          seqs.push(seq)
          if (seq === failing) throw failure
        },
      })
      const following = await started
      await eventually(() => errors.length > 0)
      await following.stop()
      expect(errors).to.deep.equal([failure])
      expect(seqs.at(-1)).to.equal(failing)
    }
  })

  it('ends for its follower when the archive is damaged further on', async () => {
    await append(6)
    await archive(1, 2)
    const { file } = await archive(3, 4)
    await bus.trim(STREAM, 5)
    const damaged = join(dir.path, STREAM, file)
    rmSync(damaged)
    writeFileSync(damaged, 'x')
    const { seen, errors, started } = follow(1)
    const following = await started
    await eventually(() => errors.length > 0)
    expect(seen).to.deep.equal(['1 archive', '2 archive'])
    expect(errors[0]).to.be.instanceOf(ArchiveDamaged)
    await following.stop()
  })
})
