import { expect } from 'chai'
import fc from 'fast-check'
import {
  addDeadline,
  deadlinesOf,
  earliestMs,
  listDeadlines,
  noDeadlines,
  takeDueDeadline,
  type Deadline,
} from '../../../core/engine/deadlines.js'

const deadlines = fc
  .record({ atMs: fc.integer({ min: 0, max: 9 }), rank: fc.integer({ min: 1, max: 20 }) })
  .map(({ atMs, rank }): Deadline => ({ atMs, rank, orderId: `o${rank}` }))

/** What comes, and at which moment it is asked what is due. */
const acts = fc.array(fc.oneof(deadlines, fc.integer({ min: 0, max: 10 })), {
  maxLength: 80,
  size: 'max',
})

const inOrder = (a: Deadline, b: Deadline): number => a.atMs - b.atMs || a.rank - b.rank

describe('deadlines', () => {
  it('come out as a sorted list gives them, also after they were listed and read again', () => {
    fc.assert(
      fc.property(acts, (script) => {
        let queue = noDeadlines()
        let list: Deadline[] = []
        for (const act of script) {
          if (typeof act !== 'number') {
            addDeadline(queue, act)
            list = [...list, act].sort(inOrder)
            continue
          }
          const [first] = list
          const due = first !== undefined && first.atMs <= act ? list.shift() : undefined
          expect(earliestMs(queue)).to.equal(first?.atMs ?? Infinity)
          expect(takeDueDeadline(queue, act)).to.deep.equal(due)
          queue = deadlinesOf(listDeadlines(queue))
        }
        expect([...listDeadlines(queue)]).to.have.deep.members(list)
      }),
    )
  })
})
