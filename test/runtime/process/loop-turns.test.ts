import { expect } from 'chai'
import { InvariantBroken } from '../../../core/assert.js'
import type { Pieces } from '../../../core/pieces.js'
import { createLoopTurns, inTurns } from '../../../runtime/process/loop-turns.js'

const PIECE_MS = 4

describe('the turns of an event loop', () => {
  let nowMs: number
  let done: string[]
  beforeEach(() => {
    nowMs = 0
    done = []
  })

  function* pieces(name: string, count: number): Pieces<string> {
    for (let n = 1; n <= count; n += 1) {
      done.push(`${name}${n}`)
      nowMs += PIECE_MS
      yield
    }
    return name
  }
  /** Notes each turn of the loop until it is stopped. */
  const noteTurns = () => {
    let isOver = false
    const note = (): void => {
      done.push('|')
      if (!isOver) setImmediate(note)
    }
    setImmediate(note)
    return () => (isOver = true)
  }

  it('are given to one of those that wait, and end after ten milliseconds of work', async () => {
    const turns = createLoopTurns(() => nowMs)
    const stop = noteTurns()
    const both = [inTurns(pieces('a', 9), turns), inTurns(pieces('b', 9), turns)]
    expect(await Promise.all(both)).to.deep.equal(['a', 'b'])
    stop()
    const perTurn = done.join(' ').split('|')
    for (const turn of perTurn) expect(turn.trim().split(' ').length, turn).to.be.at.most(3)
    expect(perTurn.length).to.be.above(3)
    const order = done.filter((each) => each !== '|').join(' ')
    expect(order.indexOf('b1'), order).to.be.below(order.indexOf('a9'))
  })

  it('begin anew with each turn of the loop, so that work that waits for input is not held up', async () => {
    const turns = createLoopTurns(() => nowMs)
    for (let n = 0; n < 5; n += 1) {
      nowMs += 1_000
      expect(turns.pause()).to.equal(undefined)
      await new Promise(setImmediate)
    }
  })

  it('let the error of a piece through, and go on with others', async () => {
    const turns = createLoopTurns(() => nowMs)
    function* broken(): Pieces<void> {
      yield* pieces('x', 3)
      throw new InvariantBroken('of one')
    }
    const failing = inTurns(broken(), turns).catch((error: Error) => error.message)
    const good = inTurns(pieces('a', 4), turns)
    expect(await Promise.all([failing, good])).to.deep.equal(['of one', 'a'])
  })
})
