import { expect } from 'chai'
import { createBoundedReads } from '../../../chain/contracts/head-reads.js'

/** A read that ends when it is told to. */
function held(log: string[], name: string) {
  let end: (value: string) => void = () => undefined
  const ended = new Promise<string>((resolve) => (end = resolve))
  const read = () => {
    log.push(name)
    return ended
  }
  return { read, end: () => end(name) }
}

describe('bounded reads', () => {
  it('run so many at a time, in order, and make none beyond what may wait', async () => {
    const log: string[] = []
    const bounded = createBoundedReads({ running: 2, waiting: 1 })
    const a = held(log, 'a')
    const b = held(log, 'b')
    const c = held(log, 'c')
    const answers = [a, b, c].map(({ read }) => bounded(read))
    expect(await bounded(() => Promise.resolve('d'))).to.equal(undefined)
    expect(log).to.deep.equal(['a', 'b'])
    a.end()
    await answers[0]
    b.end()
    c.end()
    expect(await Promise.all(answers)).to.deep.equal(['a', 'b', 'c'])
    expect(log).to.deep.equal(['a', 'b', 'c'])
    expect(await bounded(() => Promise.resolve('e'))).to.equal('e')
  })

  it('gives its place back when a read fails', async () => {
    const bounded = createBoundedReads({ running: 1, waiting: 1 })
    const failed = bounded(() => Promise.reject(new Error('no')))
    const next = bounded(() => Promise.resolve('next'))
    expect(await failed.catch(() => 'failed')).to.equal('failed')
    expect(await next).to.equal('next')
    expect(await bounded(() => Promise.resolve('later'))).to.equal('later')
  })
})
