import { expect } from 'chai'
import { createExpiringCache } from '../../../chain/reads/expiring-cache.js'

function counted(maxEntries = 10) {
  let nowMs = 0
  let loads = 0
  const cache = createExpiringCache<number>({ ttlMs: 100, maxEntries, nowMs: () => nowMs })
  const load = () => Promise.resolve((loads += 1))
  return { cache, load, advance: (ms: number) => (nowMs += ms), loads: () => loads }
}

describe('expiring cache', () => {
  it('answers from memory until the time is up', async () => {
    const { cache, load, advance } = counted()
    expect(await cache.get('a', load)).to.equal(1)
    advance(99)
    expect(await cache.get('a', load)).to.equal(1)
    advance(1)
    expect(await cache.get('a', load)).to.equal(2)
  })

  it('answers at once what it knows', async () => {
    const { cache, load } = counted()
    expect(cache.get('a', load)).to.be.instanceOf(Promise)
    await cache.get('a', load)
    expect(cache.get('a', load)).to.equal(1)
  })

  it('counts the age of a value from the question', async () => {
    const { cache, load, advance } = counted()
    let answer: (value: number) => void = () => undefined
    const slow = cache.get('a', () => new Promise((resolve) => (answer = resolve)))
    advance(100)
    answer(7)
    expect(await slow).to.equal(7)
    expect(await cache.get('a', load)).to.equal(1)
  })

  it('lets concurrent askers share one load', async () => {
    const { cache, load, loads } = counted()
    await Promise.all([cache.get('a', load), cache.get('a', load)])
    expect(loads()).to.equal(1)
  })

  it('remembers neither failures nor answers that are none', async () => {
    const { cache, load } = counted()
    const failed = Promise.resolve(cache.get('a', () => Promise.reject(new Error('down'))))
    expect(await failed.catch((error: Error) => error.message)).to.equal('down')
    expect(await cache.get('a', () => Promise.resolve(undefined))).to.equal(undefined)
    expect(await cache.get('a', load)).to.equal(1)
  })

  it('keeps a value beyond its time while it still holds, and no longer than the bound', async () => {
    let nowMs = 0
    let holds = true
    const cache = createExpiringCache<number>({
      ttlMs: 100,
      maxEntries: 10,
      nowMs: () => nowMs,
      keep: {
        stillHolds: (value, askedAtMs) => holds && value === 1 && askedAtMs === 0,
        mostMs: 500,
      },
    })
    let loads = 0
    const load = () => Promise.resolve((loads += 1))
    await cache.get('a', load)
    await cache.get('b', load)
    nowMs = 400
    expect(await cache.get('a', load)).to.equal(1)
    expect(await cache.get('b', load), 'does not hold').to.equal(3)
    nowMs = 500
    expect(await cache.get('a', load), 'kept for too long').to.equal(4)
    holds = false
    nowMs = 599
    expect(await cache.get('a', load), 'within its time').to.equal(4)
  })

  it('keeps values that were loaded together for times of their own, the last fifth apart', async () => {
    let nowMs = 0
    const cache = createExpiringCache<string>({
      ttlMs: 100,
      maxEntries: 1_000,
      nowMs: () => nowMs,
      keep: { stillHolds: () => true, mostMs: 500 },
    })
    const keys = Array.from({ length: 1_000 }, (_, i) => `${i}`)
    const keptAt = async (ms: number): Promise<number> => {
      nowMs = ms
      const loaded: string[] = []
      for (const key of keys) {
        await cache.get(key, () => {
          loaded.push(key)
          return Promise.resolve(undefined)
        })
      }
      return keys.length - loaded.length
    }
    for (const key of keys) await cache.get(key, () => Promise.resolve(key))
    expect(await keptAt(400)).to.equal(1_000)
    expect(await keptAt(425)).to.be.within(700, 800)
    expect(await keptAt(475)).to.be.within(200, 300)
    expect(await keptAt(500)).to.equal(0)
  })

  it('makes room by forgetting what was loaded longest ago', async () => {
    const { cache, load } = counted(2)
    for (const key of ['a', 'b', 'c']) await cache.get(key, load)
    expect(await cache.get('c', load)).to.equal(3)
    expect(await cache.get('a', load)).to.equal(4)
  })
})
