import { expect } from 'chai'
import { Recent } from '../../ccxt/recent.js'

describe('the newest items of a stream', () => {
  const item = (id: string, symbol = 'A', rest: object = {}) => ({ id, symbol, ...rest })

  it('are each kept once, the one that changed last at the end, and no more than the bound', () => {
    const recent = new Recent(2)
    recent.append(item('1'))
    recent.append(item('2'))
    recent.append(item('1', 'A', { filled: 3 }))
    expect([...recent]).to.deep.equal([item('2'), item('1', 'A', { filled: 3 })])
    recent.append(item('3'))
    expect(recent.map(({ id }) => id as string)).to.deep.equal(['1', '3'])
  })

  it('are counted since they were asked for last, of a symbol and of all by itself', () => {
    const recent = new Recent()
    for (const id of ['1', '2', '2']) recent.append(item(id))
    recent.append(item('3', 'B'))
    expect(recent.getLimit('A', undefined)).to.equal(2)
    expect(recent.getLimit('A', undefined)).to.equal(0)
    expect(recent.getLimit(undefined, 10)).to.equal(3)
    const small = new Recent(2)
    for (const id of ['1', '2', '3']) small.append(item(id))
    expect(small.getLimit('A', undefined)).to.equal(2)
    recent.append(item('4'))
    expect(recent.getLimit('A', 5)).to.equal(1)
    expect(recent.getLimit(undefined, undefined)).to.equal(1)
  })

  it('hold a candle in its place', () => {
    const candles = new Recent(10, 0)
    for (const candle of [
      [60, 1],
      [120, 2],
      [60, 3],
    ])
      candles.append(candle)
    expect([...candles]).to.deep.equal([
      [60, 3],
      [120, 2],
    ])
    expect(candles.getLimit(undefined, undefined)).to.equal(2)
  })

  it('are lists as CCXT’s own are: what is made of them is a plain one', () => {
    const recent = new Recent()
    recent.append(item('1'))
    expect(recent).to.be.instanceOf(Array)
    expect(recent.filter(() => true).constructor).to.equal(Array)
    expect(Object.keys(recent)).to.deep.equal(['0'])
  })
})
