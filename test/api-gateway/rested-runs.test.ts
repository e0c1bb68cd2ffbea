import { expect } from 'chai'
import { createRestedRuns } from '../../api-gateway/rested-runs.js'

/** A clock that stands until a pause or a run moves it. */
function aClock() {
  let nowMs = 0
  const pauses: number[] = []
  return {
    pauses,
    elapsedMs: () => nowMs,
    pass: (ms: number) => (nowMs += ms),
    pause(ms: number) {
      pauses.push(ms)
      nowMs += ms
      return Promise.resolve()
    },
  }
}

describe('work that rests between its runs', () => {
  const nothing = () => undefined

  it('is done once for all who ask meanwhile, and not by a run that had begun before', async () => {
    const runs = createRestedRuns<number>(aClock())
    let begun = 0
    const run = async () => {
      const mine = (begun += 1)
      await new Promise(setImmediate)
      return mine
    }
    const first = runs.after('a', nothing, run)
    await new Promise((resolve) => process.nextTick(resolve))
    const later = [runs.after('a', nothing, run), runs.after('a', nothing, run)]
    expect([await first, ...(await Promise.all(later))]).to.deep.equal([1, 2, 2])
    expect(await runs.after('b', nothing, run), 'each name for itself').to.equal(3)
  })

  it('is not done where the run before has found what is asked for', async () => {
    const runs = createRestedRuns<string>(aClock())
    let found: string | undefined
    const first = runs.after('a', nothing, () => Promise.resolve((found = 'here')))
    const second = runs.after(
      'a',
      () => found,
      () => Promise.reject(new Error('runs again')),
    )
    expect([await first, await second]).to.deep.equal(['here', 'here'])
  })

  it('rests four times as long as it took, and at most 400 ms', async () => {
    const clock = aClock()
    const runs = createRestedRuns<void>(clock)
    for (const ms of [10, 100, 900, 0]) {
      await runs.after('a', nothing, () => Promise.resolve(void clock.pass(ms)))
    }
    expect(clock.pauses).to.deep.equal([40, 400, 400])
  })

  it('fails for those who share a run, and is done again for the next', async () => {
    const runs = createRestedRuns<string>(aClock())
    const failing = () => Promise.reject(new Error('gone'))
    const shared = [1, 2].map(() => runs.after('a', nothing, failing).catch(String))
    expect(await Promise.all(shared)).to.deep.equal(['Error: gone', 'Error: gone'])
    const next = await runs.after('a', nothing, () => Promise.resolve('done'))
    expect(next).to.equal('done')
  })
})
