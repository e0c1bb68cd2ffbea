import { expect } from 'chai'
import { eventually, NotInTime } from './support/eventually.js'

describe('a wait for a condition', () => {
  const LIMIT_MS = 30
  const COMES_AFTER_MS = 150
  /** Comes about after five times the limit. */
  const condition = () => {
    const from = performance.now()
    return () => performance.now() - from > COMES_AFTER_MS
  }
  const outcomeOf = (slowness: number) =>
    eventually(condition(), LIMIT_MS, () => slowness).then(
      () => 'came about',
      (error: unknown) => error,
    )

  it('ends with its limit on an idle machine, and names the condition', async () => {
    const error = await outcomeOf(1)
    expect(error).to.be.instanceOf(NotInTime)
    expect(String(error)).to.match(/not within 30 ms: did not happen: \(\) => performance/)
  })

  it('goes on as much longer as the machine is slower', async () => {
    expect(await outcomeOf(10)).to.equal('came about')
  })

  it('takes no machine for faster than an idle one, and none for slower than fifteen times', async () => {
    expect(await outcomeOf(0.01)).to.be.instanceOf(NotInTime)
    const never = () => false
    const begun = performance.now()
    await eventually(never, 1, () => 1e9).catch(() => undefined)
    expect(performance.now() - begun).to.be.below(10_000)
  })
})
