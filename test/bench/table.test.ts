import { expect } from 'chai'
import { interleaved, median, percentile, ratio } from '../../bench/rounds.js'
import { summed } from '../../bench/results.js'
import { isReached, tableOf } from '../../bench/table.js'

describe('figures of the benches', () => {
  it('median and percentiles stand between the values next to them', () => {
    expect(median([3, 1, 2])).to.equal(2)
    expect(median([4, 1, 2, 3])).to.equal(2.5)
    expect(percentile([1, 2, 3, 4, 5], 0.75)).to.equal(4)
  })

  it('a ratio is taken round by round, and its median is what has to be reached', () => {
    const row = ratio(
      'a / b',
      [
        [10, 30, 60],
        [1, 10, 10],
      ],
      { atLeast: 6 },
    )
    expect(row.values).to.deep.equal([10, 3, 6])
    expect(isReached(row.values, { atLeast: 6 })).to.equal(true)
    expect(isReached(row.values, { atLeast: 6.1 })).to.equal(false)
    expect(isReached(row.values, { atMost: 6 })).to.equal(true)
    expect(isReached(row.values, { atMost: 5.9 })).to.equal(false)
  })

  it('contenders take turns in changing order, and the first round does not count', async () => {
    const turns: string[] = []
    const contender = (name: string) => () => turns.push(name)
    const results = await interleaved(2, { a: contender('a'), b: contender('b') })
    expect(turns).to.deep.equal(['a', 'b', 'b', 'a', 'a', 'b'])
    expect(results).to.deep.equal({ a: [4, 5], b: [3, 6] })
  })

  it('a table says the median, the spread, the goal and whether it is reached', () => {
    const table = tableOf([
      { what: 'venue', unit: 'µs', values: [10, 12, 11] },
      { what: 'peer / venue', unit: 'x', values: [2, 3, 4], goal: { atLeast: 5 } },
    ])
    expect(table.split('\n').map((line) => line.replace(/ +/g, ' '))).to.deep.equal([
      '| | median | min – max | to reach | |',
      '| ------------ | -----: | ----------: | -------: | ------ |',
      '| venue, µs | 11.0 | 10.0 – 12.0 | | |',
      '| peer / venue | 3.00x | 2.00 – 4.00 | ≥ 5x | missed |',
    ])
  })
  it('a kept row has what the table says, beside the values of the rounds', () => {
    const row = { what: 'venue', unit: 'µs', values: [10, 14, 11] }
    expect(summed(row)).to.deep.equal({ ...row, median: 11, min: 10, max: 14 })
    expect(summed({ ...row, goal: { atMost: 11 } })).to.include({ median: 11, reached: true })
  })
})
