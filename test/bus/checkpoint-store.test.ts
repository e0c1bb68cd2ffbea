import { expect } from 'chai'
import { CheckpointUnusable } from '../../bus-schemas/checkpoint-message.js'
import {
  declareCheckpoints,
  listCheckpoints,
  loadCheckpoint,
  writeCheckpoint,
} from '../../bus-schemas/checkpoint-store.js'
import { createMemoryBus } from '../../bus-schemas/memory-bus.js'
import { checkpointsStream } from '../../bus-schemas/subjects.js'
import { takeSnapshot } from '../../core/matcher-snapshot.js'
import { emptyMatcherState } from '../../core/matcher-state.js'

const MARKET = 'cNGN-USDC'
const stream = checkpointsStream(MARKET)
const state = takeSnapshot(emptyMatcherState({ market: MARKET, ordinal: 1, takerFeeBps: 25 }))
const feed = { messageSeq: 1, sha256: 'ab'.repeat(32) }

describe('stored checkpoints', () => {
  it('that are trimmed while somebody reads them are gone, and no failure', async () => {
    const bus = createMemoryBus()
    await declareCheckpoints(bus, MARKET)
    for (const commandSeq of [1, 2]) {
      await writeCheckpoint(bus, { market: MARKET, commandSeq, feed, term: 1, state }, () => false)
    }
    const before = await bus.streamState(stream)
    const [newest, older] = await listCheckpoints(bus, MARKET)
    await bus.trim(stream, newest!.firstSeq)
    // As whoever asked for the stream's ends before that sees it.
    const late = { ...bus, streamState: () => Promise.resolve(before) }
    expect(await listCheckpoints(late, MARKET)).to.deep.equal([newest])
    expect(
      await loadCheckpoint(bus, MARKET, older!).catch((error: unknown) => error),
    ).to.be.instanceOf(CheckpointUnusable)
  })
})
