import { expect } from 'chai'
import { rowsBeside } from '../../bench/beside.js'

describe('benches beside another build', () => {
  it('give the ratio of each figure turn by turn, of rows that both have', () => {
    const turn = (theirs: number[], ours: number[]) => ({
      theirs: [
        { what: 'step', unit: 'µs', values: theirs },
        { what: 'gone', unit: 'µs', values: [1] },
        { what: 'step', unit: 's', values: [2] },
      ],
      ours: [
        { what: 'step', unit: 'µs', values: ours },
        { what: 'new', unit: 'µs', values: [1] },
        { what: 'step', unit: 's', values: [1] },
      ],
    })
    expect(rowsBeside([turn([4, 2, 3], [6, 6, 6]), turn([2], [1])])).to.deep.equal([
      { what: 'step: other build', unit: 'µs', values: [3, 2] },
      { what: 'step: this build', unit: 'µs', values: [6, 1] },
      { what: 'step: this / other', unit: 'x', values: [2, 0.5] },
      { what: 'step: other build', unit: 's', values: [2, 2] },
      { what: 'step: this build', unit: 's', values: [1, 1] },
      { what: 'step: this / other', unit: 'x', values: [0.5, 0.5] },
    ])
  })
})
