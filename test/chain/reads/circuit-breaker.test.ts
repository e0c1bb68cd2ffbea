import { expect } from 'chai'
import { createCircuitBreaker } from '../../../chain/reads/client.js'

describe('circuit breaker', () => {
  it('leaves a silent node alone, tries it once after a rest, and lets all through when it answers', async () => {
    let nowMs = 0
    const node: { answer?: number } = {}
    let asked = 0
    const breaker = createCircuitBreaker({ restMs: 100, nowMs: () => nowMs })
    const ask = () => breaker.ask(() => ((asked += 1), Promise.resolve(node.answer)))

    expect(await ask()).to.equal(undefined)
    nowMs = 99
    expect(await ask()).to.equal(undefined)
    expect(asked).to.equal(1)

    nowMs = 100
    expect(await Promise.all([ask(), ask(), ask()])).to.deep.equal(Array(3).fill(undefined))
    expect(asked).to.equal(2)

    nowMs = 200
    node.answer = 7
    expect(await Promise.all([ask(), ask()])).to.deep.equal([7, undefined])
    expect(await Promise.all([ask(), ask()])).to.deep.equal([7, 7])
    expect(asked).to.equal(5)
  })
})
