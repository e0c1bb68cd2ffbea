import { expect } from 'chai'
import { StreamsDisagree } from '../../../actors/matcher/checkpoints.js'
import { decodeBlock, encodeBlock } from '../../../bus-schemas/blocks.js'
import { encodePingAnswer } from '../../../bus-schemas/operations.js'
import {
  askPing,
  checkpointsStream,
  commandsStream,
  feedStream,
} from '../../../bus-schemas/subjects.js'
import { listCheckpoints } from '../../../runtime/bus/checkpoint-store.js'
import { createMemoryBus, type MemoryBus } from '../../../runtime/bus/memory-bus.js'
import { eventually } from '../../support/eventually.js'
import { resealed } from '../../support/resealed.js'
import {
  appendCommands,
  changesOf,
  copyOf,
  placeOrder,
  stageMarket,
  startOn,
  type Copying,
  type StartedMatcher,
} from './stage.js'

const { market } = stageMarket
const SETTINGS = { everyCommands: 10, everyMs: 3_600_000, keepCommandsMs: 3_600_000 }
const TRIMMING = { ...SETTINGS, keepCommandsMs: 0 }
describe('recovery of a matcher', () => {
  let bus: MemoryBus
  const running: StartedMatcher[] = []
  const start = async (on: MemoryBus, settings = SETTINGS) => {
    const started = await startOn(on, { checkpoints: settings })
    running.push(started)
    return started
  }
  /** How far the intake has stored the claims of the log; it is silent while that is undefined. */
  let storedTo: number | undefined
  beforeEach(async () => {
    bus = createMemoryBus()
    storedTo = Number.MAX_SAFE_INTEGER
    await bus.answer(askPing('order-intake'), 'order-intake', (_, replyTo) => {
      if (storedTo === undefined) return
      const positions = { [commandsStream(market)]: storedTo }
      const ping = { process: 'order-intake', ready: true, detail: 'taking orders', positions }
      bus.reply(replyTo, encodePingAnswer(ping))
    })
  })
  afterEach(async () => {
    await Promise.all(running.splice(0).map(({ matcher }) => matcher.stop()))
  })

  let placed = 0
  const place = async (count: number) => {
    for (let n = 0; n < count; n += 1) {
      placed += 1
      const side = placed % 2 === 0 ? 'buy' : 'sell'
      const orderId = `o${placed}`
      await appendCommands(bus, [placeOrder({ orderId, side, subaccountId: BigInt(placed) })])
    }
  }
  const checkpoints = () => listCheckpoints(bus, market)

  /** Runs until so many checkpoints were written, stops, and adds what no matcher has processed. */
  async function history(count: number, settings = SETTINGS): Promise<void> {
    const { matcher } = await start(bus, settings)
    let newest = 0
    for (let written = 0; written < count; written += 1) {
      await place(10)
      await eventually(async () => {
        await appendCommands(bus, [{ kind: 'Tick' }])
        return ((await checkpoints())[0]?.commandSeq ?? 0) > newest
      })
      newest = (await checkpoints())[0]?.commandSeq ?? 0
    }
    await matcher.stop()
    await place(7)
  }

  /** The feed as one matcher makes it of the same log from its beginning. */
  const expectSameFeed = async (recovered: MemoryBus) => {
    const seqs = (await changesOf(recovered)).map(({ seq }) => seq)
    expect(seqs).to.deep.equal(seqs.map((_, index) => index + 1))
  }

  it('goes on from a checkpoint to the very feed that the whole log gives', async () => {
    await history(2)
    const cold = await copyOf(bus, (stream, _, data) =>
      stream === commandsStream(market) ? data : undefined,
    )
    await start(bus)
    await start(cold)
    const open = async (on: MemoryBus) =>
      (await changesOf(on)).filter(({ kind }) => kind !== 'OrderFilled')
    await eventually(async () => {
      expect((await changesOf(bus)).length).to.equal((await changesOf(cold)).length)
    })
    expect(await open(bus)).to.deep.equal(await open(cold))
    expect((await changesOf(bus)).length).to.be.greaterThan(27)
    await expectSameFeed(bus)
  })

  it('keeps of the log what the claims of the intake are not stored of', async () => {
    storedTo = 4
    await history(5, TRIMMING)
    expect((await bus.streamState(commandsStream(market))).firstSeq).to.equal(5)
  })

  it('trims no log while the intake does not answer', async () => {
    storedTo = undefined
    await history(3, TRIMMING)
    expect((await bus.streamState(commandsStream(market))).firstSeq).to.equal(1)
  })

  it('keeps three checkpoints, and of the log what the oldest of them needs (OPE-043)', async () => {
    await history(5, TRIMMING)
    const kept = await checkpoints()
    expect(kept).to.have.length(3)
    const oldest = kept[2]
    expect((await bus.streamState(checkpointsStream(market))).firstSeq).to.equal(oldest?.firstSeq)
    const { firstSeq } = await bus.streamState(commandsStream(market))
    expect(firstSeq).to.equal((oldest?.commandSeq ?? 0) + 1)
    const { matcher, unusable } = await start(bus)
    await place(1)
    await eventually(async () => {
      const shown = (await changesOf(bus)).map(({ orderId }) => orderId)
      expect(shown).to.include(`o${placed}`)
    })
    expect(unusable).to.deep.equal([])
    expect(matcher.positions().command_seq).to.be.greaterThan(firstSeq)
  })

  it('keeps commands that are young, whatever the checkpoints say (OPE-044)', async () => {
    await history(4, { ...SETTINGS, keepCommandsMs: 3_600_000 })
    expect((await bus.streamState(commandsStream(market))).firstSeq).to.equal(1)
  })

  it('falls back to an older checkpoint when the newest is damaged or was not finished (OPE-021)', async () => {
    await history(3, TRIMMING)
    const [newest, older] = await checkpoints()
    const damaged = await copyOf(bus, (stream, seq, data) => {
      if (stream !== checkpointsStream(market) || seq !== newest?.firstSeq) return data
      return data.map((byte, index) => (index === 40 ? byte ^ 1 : byte))
    })
    const first = await start(damaged)
    expect(first.unusable).to.deep.equal(['its bytes are not what was written'])
    expect(first.matcher.isLive()).to.equal(true)
    const torn = await copyOf(bus, (stream, seq, data) =>
      stream === checkpointsStream(market) && seq === newest?.trailerSeq ? undefined : data,
    )
    expect((await listCheckpoints(torn, market))[0]).to.deep.include({
      commandSeq: older?.commandSeq,
    })
    const second = await start(torn)
    expect(second.unusable).to.deep.equal([])
    expect(second.matcher.isLive()).to.equal(true)
    await eventually(async () => {
      expect((await changesOf(torn)).map(({ orderId }) => orderId)).to.include(`o${placed}`)
    })
    await expectSameFeed(torn)
  })

  describe('takes the older checkpoint, then the log, where one has its trailer and', () => {
    /** A copy in which the newest checkpoints hold something else, with the trailers of their writer. */
    async function spoilt(newest: number, change: (part: string) => string): Promise<MemoryBus> {
      const other = new Map<number, Uint8Array>()
      for (const { firstSeq, trailerSeq } of (await checkpoints()).slice(0, newest)) {
        const stored = await bus.read(
          checkpointsStream(market),
          firstSeq,
          trailerSeq - firstSeq + 1,
        )
        const data = resealed(
          stored.map((message) => message.data),
          change,
        )
        for (const [at, bytes] of data.entries()) other.set(firstSeq + at, bytes)
      }
      return copyOf(bus, (stream, seq, data) =>
        stream === checkpointsStream(market) ? (other.get(seq) ?? data) : data,
      )
    }
    const spoils: Record<string, [change: (part: string) => string, why: string]> = {
      'has a deadline between two milliseconds': [
        (part) => part.replace(/("deadlines"\]\n\[\[\d+)/, '$1.5'),
        'atMs is not a whole number, zero or more',
      ],
      'is not JSON': [(part) => part.replace('"accounts"]\n[', '"accounts"]\n'), 'JSON'],
      'has no rows': [(part) => part.replace(/("accounts"\]\n).*/, '$1null'), 'iterable'],
      'lacks an account': [(part) => part.replace(/("accounts"\]\n).*/, '$1[]'), 'is not known'],
    }
    for (const [what, [change, why]] of Object.entries(spoils)) {
      it(what, async () => {
        await history(2)
        for (const [newest, places] of [
          [1, 1],
          [2, 2],
        ] as const) {
          const on = await spoilt(newest, change)
          const { matcher, unusable } = await start(on)
          expect(unusable).to.have.length(places)
          for (const each of unusable)
            expect(each)
              .to.match(/^it cannot be decoded: /)
              .and.include(why)
          await eventually(() => expect(matcher.isLive()).to.equal(true))
          await expectSameFeed(on)
        }
      })
    }

    it('counts only what it could use when it trims the log', async () => {
      await history(3)
      const on = await spoilt(2, (part) => part.replace(/("accounts"\]\n).*/, '$1null'))
      const { matcher } = await start(on, TRIMMING)
      const before = (await listCheckpoints(on, market))[0]?.commandSeq ?? 0
      await eventually(() => expect(matcher.isLive()).to.equal(true))
      for (let n = 0; n < 10; n += 1) await appendCommands(on, [{ kind: 'Tick' }])
      await eventually(async () => {
        const [newest] = await listCheckpoints(on, market)
        expect(newest?.commandSeq).to.be.greaterThan(before)
      })
      await matcher.stop()
      // With the new one it has two.
      expect((await on.streamState(commandsStream(market))).firstSeq).to.equal(1)
    })
  })

  const failureOn = (on: MemoryBus) =>
    start(on).then(
      ({ fatal }) => fatal[0],
      (error: unknown) => error,
    )

  it('stops when no checkpoint is usable and the log no longer reaches back', async () => {
    await history(4, TRIMMING)
    const useless = await copyOf(bus, (stream, _, data) =>
      stream === checkpointsStream(market) ? data.slice(1) : data,
    )
    const error = await failureOn(useless)
    expect(error).to.be.instanceOf(StreamsDisagree)
    expect(String(error)).to.match(/begins at \d+, and no usable checkpoint reaches it/)
  })

  it('stops when exactly the first command is gone and no checkpoint is usable', async () => {
    await history(1)
    const useless = await copyOf(bus, (stream, _, data) =>
      stream === checkpointsStream(market) ? data.slice(1) : data,
    )
    await useless.trim(commandsStream(market), 2)
    expect(String(await failureOn(useless))).to.include('begins at 2, and no usable checkpoint')
  })

  it('stops when exactly the command behind the checkpoint is gone', async () => {
    await history(1)
    const included = (await checkpoints())[0]?.commandSeq ?? 0
    const whole = await copyOf(bus)
    await whole.trim(commandsStream(market), included + 1)
    expect((await start(whole)).matcher.isLive()).to.equal(true)
    await bus.trim(commandsStream(market), included + 2)
    const error = await failureOn(bus)
    expect(error).to.be.instanceOf(StreamsDisagree)
    expect(String(error)).to.include(`begins at ${included + 2}`)
  })

  it('begins at the first command when no checkpoint is usable and the log is whole (OPE-021)', async () => {
    await history(1)
    const useless = await copyOf(bus, (stream, _, data) =>
      stream === checkpointsStream(market) ? data.slice(1) : data,
    )
    const { matcher } = await start(useless)
    expect(matcher.isLive()).to.equal(true)
    await expectSameFeed(useless)
  })

  it('takes a checkpoint that its leader writes while it starts for one of the log', async () => {
    await history(1)
    let isListed = false
    const note = (stream: string) => void (isListed ||= stream === checkpointsStream(market))
    const between: MemoryBus = {
      ...bus,
      read(stream, ...rest) {
        note(stream)
        return bus.read(stream, ...rest)
      },
      async streamState(stream) {
        note(stream)
        const state = await bus.streamState(stream)
        // The log as it was before the checkpoint.
        return stream === commandsStream(market) && !isListed ? { ...state, lastSeq: 4 } : state
      },
    }
    expect(await failureOn(between)).to.equal(undefined)
  })

  for (const [what, streamOf] of [
    ['feed', feedStream],
    ['command log', commandsStream],
  ] as const) {
    it(`stops when the ${what} ends before what a checkpoint knows of it`, async () => {
      await history(1)
      const rolledBack = await copyOf(bus, (stream, seq, data) =>
        stream === streamOf(market) && seq > 4 ? undefined : data,
      )
      const error = await failureOn(rolledBack)
      expect(error).to.be.instanceOf(StreamsDisagree)
      expect(String(error)).to.include(`${streamOf(market)} ends at 4`)
      expect(String(error)).to.include('it was rolled back')
    })
  }

  it('stops when the feed holds another block than the checkpoint saw last', async () => {
    await history(1)
    const [stored] = await checkpoints()
    const { lastSeq } = await bus.streamState(feedStream(market))
    const other = await copyOf(bus, (stream, _, data) =>
      stream === feedStream(market) ? withOtherTime(data) : data,
    )
    expect(stored).to.not.equal(undefined)
    expect(lastSeq).to.be.greaterThan(10)
    expect(String(await failureOn(other))).to.include('holds another message')
  })

  it('stops when replay differs anywhere since the checkpoint, not only at the end (OPE-019)', async () => {
    await history(1)
    const first = await start(bus)
    await eventually(async () => {
      expect((await changesOf(bus)).map(({ orderId }) => orderId)).to.include(`o${placed}`)
    })
    await first.matcher.stop()
    const { lastSeq } = await bus.streamState(feedStream(market))
    const other = await copyOf(bus, (stream, seq, data) =>
      stream === feedStream(market) && seq === lastSeq - 2 ? withOtherTime(data) : data,
    )
    const { fatal } = await start(other)
    await eventually(() => expect(String(fatal[0])).to.include('replay gives another block'))
  })

  it('passes over the feed’s trimmed beginning, and still compares the rest', async () => {
    await history(1)
    const copying: Copying = (stream, _, data) =>
      stream === checkpointsStream(market) ? undefined : data
    const trimmed = await copyOf(bus, copying)
    await trimmed.trim(feedStream(market), 5)
    const { matcher } = await start(trimmed)
    expect(matcher.isLive()).to.equal(true)
    const { lastSeq } = await bus.streamState(feedStream(market))
    const other = await copyOf(bus, (stream, seq, data) => {
      if (stream === feedStream(market) && seq === lastSeq - 1) return withOtherTime(data)
      return copying(stream, seq, data)
    })
    await other.trim(feedStream(market), 5)
    const { fatal } = await start(other)
    await eventually(() => expect(String(fatal[0])).to.include('replay gives another block'))
  })
})

/** The block as another history would have it. */
function withOtherTime(data: Uint8Array): Uint8Array {
  const block = decodeBlock(data)
  return encodeBlock({
    ...block,
    changes: block.changes.map((change) => ({ ...change, atMs: change.atMs + 1 })),
  })
}
