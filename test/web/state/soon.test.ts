import { mock } from 'node:test'
import { expect } from 'chai'
import { soon } from '../../../web/state/soon.js'

/** Lets what is resolved go on. */
const settle = () => new Promise((resolve) => setImmediate(resolve))

describe('web/state: what is done soon', () => {
  beforeEach(() => mock.timers.enable({ apis: ['setTimeout'] }))
  afterEach(() => mock.timers.reset())

  it('runs once for many calls, and never beside itself', async () => {
    const ends: (() => void)[] = []
    const call = soon(() => new Promise<void>((resolve) => ends.push(resolve)), 100)
    call()
    call()
    mock.timers.tick(100)
    expect(ends).to.have.length(1)
    call()
    call()
    mock.timers.tick(1_000)
    expect(ends).to.have.length(1)
    ends[0]?.()
    await settle()
    mock.timers.tick(100)
    expect(ends).to.have.length(2)
    ends[1]?.()
    await settle()
    mock.timers.tick(1_000)
    expect(ends).to.have.length(2)
  })

  it('is tried again by the next call where it failed', async () => {
    let runs = 0
    const call = soon(() => {
      runs += 1
      return Promise.reject(new Error('no'))
    }, 100)
    call()
    mock.timers.tick(100)
    await settle()
    call()
    mock.timers.tick(100)
    expect(runs).to.equal(2)
  })
})
