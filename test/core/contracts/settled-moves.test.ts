import { expect } from 'chai'
import { addMove, forgetMoves } from '../../../core/contracts/settled-moves.js'
import { REORG_BLOCKS, SETTLED_BLOCKS_MAX } from '../../../core/model/limits.js'

interface Move {
  readonly blockNumber: bigint
  readonly moved: number
}

const sum = (later: Move, earlier: Move): Move => ({
  blockNumber: later.blockNumber,
  moved: later.moved + earlier.moved,
})
const movesOf = (...blocks: number[]): Move[] => {
  const moves: Move[] = []
  for (const block of blocks) addMove(moves, { blockNumber: BigInt(block), moved: block }, sum)
  return moves
}
const shown = (moves: readonly Move[]) =>
  moves.map(({ blockNumber, moved }) => [blockNumber, moved])

describe('settled moves of an account', () => {
  it('stand in the order of their blocks, one for each', () => {
    expect(shown(movesOf(5, 3, 7, 3, 6, 5, 1))).to.deep.equal([
      [1n, 1],
      [3n, 6],
      [5n, 10],
      [6n, 6],
      [7n, 7],
    ])
  })

  it('beyond the bound become one in the later block', () => {
    const blocks = Array.from({ length: SETTLED_BLOCKS_MAX }, (_, i) => i + 1)
    const moves = movesOf(...blocks)
    expect(moves).to.have.length(SETTLED_BLOCKS_MAX)
    addMove(moves, { blockNumber: 1_000n, moved: 9 }, sum)
    expect(moves).to.have.length(SETTLED_BLOCKS_MAX)
    expect(shown(moves).slice(0, 2)).to.deep.equal([
      [2n, 3],
      [3n, 3],
    ])
    expect(shown(moves).at(-1)).to.deep.equal([1_000n, 9])
  })

  it('are forgotten once no reorganisation can hide them from an observation', () => {
    const at = Number(REORG_BLOCKS)
    const after = (observedBlock: number) => {
      const moves = movesOf(1, 2, 3)
      forgetMoves(moves, BigInt(observedBlock))
      return moves.map(({ blockNumber }) => Number(blockNumber))
    }
    expect(after(at)).to.deep.equal([1, 2, 3])
    expect(after(at + 1)).to.deep.equal([2, 3])
    expect(after(at + 2)).to.deep.equal([3])
    expect(after(at + 3)).to.deep.equal([])
  })
})
