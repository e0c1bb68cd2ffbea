import { expect } from 'chai'
import { CheckpointUnusable } from '../../../bus-schemas/checkpoint.js'
import { checkpointsStream } from '../../../bus-schemas/subjects.js'
import type { Bus } from '../../../runtime/bus/bus.js'
import {
  declareCheckpoints,
  listCheckpoints,
  loadCheckpoint,
  writeCheckpoint,
} from '../../../runtime/bus/checkpoint-store.js'
import { openedState } from '../../support/builders.js'
import { createMemoryBus } from '../../../runtime/bus/memory-bus.js'
import { takeSnapshot } from '../../support/snapshots.js'

const MARKET = 'cNGN-USDC'
const stream = checkpointsStream(MARKET)
const state = takeSnapshot(openedState())
const feed = { messageSeq: 1, sha256: 'ab'.repeat(32) }

describe('stored checkpoints', () => {
  it('are none of a market that had no matcher yet', async () => {
    expect(await listCheckpoints(createMemoryBus(), MARKET)).to.deep.equal([])
  })

  it('that are trimmed during a read are gone, and no failure', async () => {
    const bus = createMemoryBus()
    await declareCheckpoints(bus, MARKET)
    for (const commandSeq of [1, 2]) {
      await writeCheckpoint(bus, { market: MARKET, commandSeq, feed, term: 1, state }, () => false)
    }
    const before = await bus.streamState(stream)
    const [newest, older] = await listCheckpoints(bus, MARKET)
    await bus.trim(stream, newest!.firstSeq)
    // As a reader sees it that asked for the stream's ends before that.
    const late = { ...bus, streamState: () => Promise.resolve(before) }
    expect(await listCheckpoints(late, MARKET)).to.deep.equal([newest])
    expect(
      await loadCheckpoint(bus, { market: MARKET, contractType: 'spot' }, older!).catch(
        (error: unknown) => error,
      ),
    ).to.be.instanceOf(CheckpointUnusable)
  })

  it('are written in turns of the loop, with a notice before each message', async () => {
    const bus = createMemoryBus()
    await declareCheckpoints(bus, MARKET)
    const done: string[] = []
    const pause = () => Promise.resolve().then(() => void done.push('pause'))
    const append: Bus['append'] = (...given) => {
      done.push('append')
      return bus.append(...given)
    }
    await writeCheckpoint(
      { ...bus, append },
      { market: MARKET, commandSeq: 1, feed, term: 1, state },
      () => false,
      { turns: { pause }, onPiece: () => done.push('piece') },
    )
    const messages = done.filter((each) => each === 'append').length
    expect(messages).to.be.at.least(2)
    const expected = Array.from({ length: messages }, () => ['pause', 'piece', 'append']).flat()
    expect(done).to.deep.equal([...expected, 'pause', 'piece'])
  })
})
