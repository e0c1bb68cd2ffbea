import { expect } from 'chai'
import { setTimeout as delay, setImmediate as nextTurn } from 'node:timers/promises'
import {
  createBlockBatcher,
  MAX_BATCH_BLOCKS,
  MAX_BATCH_CHANGES,
  type BlockBatcher,
} from '../../../actors/projector/project.js'
import type { StreamedBlock } from '../../../data/history/project.js'
import { anOrder } from '../../support/builders.js'
import { aBlock, aChange } from '../../support/changes.js'
import { eventually } from '../../support/eventually.js'

const change = aChange(1, anOrder(), { kind: 'OrderExpired' })
const blockOf = (streamSeq: number, changes = 1): StreamedBlock => ({
  streamSeq,
  block: aBlock('cNGN-USDC', new Array(changes).fill(change)),
})

describe('batching blocks for the projection', () => {
  let batches: number[][]
  const errors: unknown[] = []
  /** Rests for so long after a batch that no test sees the end of it. */
  const create = (restMs = 60_000, apply: (seqs: number[]) => void = () => undefined) =>
    (batcher = createBlockBatcher({
      restMs,
      apply: (batch) => {
        const seqs = batch.map(({ streamSeq }) => streamSeq)
        apply(seqs)
        batches.push(seqs)
      },
      onError: (error) => errors.push(error),
    }))
  let batcher: BlockBatcher
  beforeEach(() => {
    batches = []
    errors.length = 0
  })
  afterEach(() => batcher.stop())

  it('applies a lone block in the same turn of the event loop', async () => {
    const batcher = create()
    expect(batcher.add(blockOf(1))).to.equal(undefined)
    await nextTurn()
    expect(batches).to.deep.equal([[1]])
  })

  it('applies together what arrives together, in order', async () => {
    const batcher = create()
    for (const seq of [1, 2, 3]) void batcher.add(blockOf(seq))
    await nextTurn()
    expect(batches).to.deep.equal([[1, 2, 3]])
  })

  it('applies together what comes while it rests, and at once what comes later', async () => {
    const batcher = create(1)
    for (const seq of [1, 2, 3]) {
      void batcher.add(blockOf(seq))
      await nextTurn()
    }
    await eventually(() => batches.flat().length === 3)
    await delay(20)
    void batcher.add(blockOf(4))
    await nextTurn()
    expect(batches.at(-1)).to.deep.equal([4])
  })

  it('does not rest while as much waits as a batch may hold', async () => {
    const batcher = create()
    void batcher.add(blockOf(1))
    await nextTurn()
    void batcher.add(blockOf(2))
    await nextTurn()
    expect(batches).to.deep.equal([[1]])
    await batcher.add(blockOf(3, MAX_BATCH_CHANGES))
    expect(batches).to.deep.equal([[1], [2, 3]])
  })

  const full: Record<string, StreamedBlock[]> = {
    blocks: Array.from({ length: MAX_BATCH_BLOCKS }, (_, index) => blockOf(index + 1)),
    changes: [blockOf(1, MAX_BATCH_CHANGES)],
  }
  for (const [what, blocks] of Object.entries(full)) {
    it(`holds the stream back when as many ${what} wait as a batch may hold`, async () => {
      const batcher = create()
      const held = blocks.map((block) => batcher.add(block)).at(-1)
      expect(held).to.be.instanceOf(Promise)
      expect(batches).to.deep.equal([])
      await held
      expect(batches).to.have.length(1)
      expect(batcher.add(blockOf(1000))).to.equal(undefined)
    })
  }

  it('applies nothing after a batch that failed', async () => {
    const boom = new Error('boom')
    const batcher = create(60_000, () => {
      throw boom
    })
    void batcher.add(blockOf(1))
    await nextTurn()
    void batcher.add(blockOf(2))
    await nextTurn()
    expect(errors).to.deep.equal([boom])
    expect(batches).to.deep.equal([])
  })

  it('applies what waits when it is stopped, and nothing later', async () => {
    const batcher = create()
    void batcher.add(blockOf(1))
    batcher.stop()
    expect(batches).to.deep.equal([[1]])
    void batcher.add(blockOf(2))
    await nextTurn()
    expect(batches).to.deep.equal([[1]])
  })
})
