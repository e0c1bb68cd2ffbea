import { expect } from 'chai'
import { readdirSync, readFileSync } from 'node:fs'
import { armCrashPoints, crash, CRASH_POINTS, type CrashPoint } from '../../core/crash-point.js'
import { BadConfiguration, readCrashAt } from '../../runtime/process/config.js'
import { killAt } from '../../runtime/process/process.js'

const ROOT = new URL('../../../', import.meta.url)
const ROOMS = [
  'core',
  'bus-schemas',
  'chain',
  'data',
  'runtime',
  'actors',
  'api-gateway',
  'executor',
]

/** Every label that the venue's code passes to crash. */
function wired(): string[] {
  return ROOMS.flatMap((room) => {
    const folder = new URL(`${room}/`, ROOT)
    return readdirSync(folder, { recursive: true, encoding: 'utf8' })
      .filter((path) => path.endsWith('.ts') && path !== 'crash-point.ts')
      .flatMap((path) => [
        ...readFileSync(new URL(path, folder), 'utf8').matchAll(/\bcrash\('([^']+)'\)/g),
      ])
      .map(([, label = '']) => label)
  })
}

describe('crash points', () => {
  afterEach(() => armCrashPoints(undefined))

  it('stand once each in the code', () => {
    expect(wired().sort()).to.deep.equal([...CRASH_POINTS].sort())
  })

  it('are each crashed at by a test', () => {
    const folder = new URL('test/', ROOT)
    const texts = readdirSync(folder, { recursive: true, encoding: 'utf8' })
      .filter((path) => path.endsWith('.ts') && !path.endsWith('core/crash-point.test.ts'))
      .map((path) => readFileSync(new URL(path, folder), 'utf8'))
    const nowhere = CRASH_POINTS.filter(
      (label) => !texts.some((text) => text.includes(`'${label}'`)),
    )
    expect(nowhere).to.deep.equal([])
  })

  it('do nothing until a handler is armed, and nothing after it is disarmed', () => {
    const passed: CrashPoint[] = []
    crash('intake.in_store')
    armCrashPoints((point) => passed.push(point))
    crash('intake.after_fold')
    armCrashPoints(undefined)
    crash('intake.in_store')
    expect(passed).to.deep.equal(['intake.after_fold'])
  })

  it('let a handler throw, so that a simulation can unwind', () => {
    armCrashPoints(() => {
      throw new Error('crashed')
    })
    expect(() => crash('matcher.after_read')).to.throw('crashed')
  })
})

describe('CRASH_AT', () => {
  const inTest = (CRASH_AT: string) => readCrashAt({ NODE_ENV: 'test', CRASH_AT })

  it('names a point, and at which passing', () => {
    expect(inTest('journal.in_fold')).to.deep.equal({ point: 'journal.in_fold', passing: 1 })
    expect(inTest('matcher.after_read:17')).to.deep.equal({
      point: 'matcher.after_read',
      passing: 17,
    })
  })

  it('counts for nothing outside tests', () => {
    expect(readCrashAt({ CRASH_AT: 'journal.in_fold' })).to.equal(undefined)
    expect(readCrashAt({ NODE_ENV: 'production', CRASH_AT: 'journal.in_fold' })).to.equal(undefined)
    expect(readCrashAt({ NODE_ENV: 'test' })).to.equal(undefined)
  })

  it('must name a point that exists', () => {
    for (const bad of ['intake.nowhere', 'journal.in_fold:0', 'journal.in_fold:', ':3'])
      expect(() => inTest(bad), bad).to.throw(BadConfiguration, 'CRASH_AT')
  })

  it('kills at that passing of that point only', () => {
    let kills = 0
    const handler = killAt({ point: 'journal.in_fold', passing: 2 }, () => (kills += 1))
    handler('journal.in_fold')
    handler('intake.in_store')
    expect(kills).to.equal(0)
    handler('journal.in_fold')
    handler('journal.in_fold')
    expect(kills).to.equal(1)
  })

  it('lets what is on its way leave before it kills', async () => {
    let killed = false
    const handler = killAt({ point: 'sender.during_broadcast', passing: 1 }, () => {
      killed = true
    })
    handler('sender.during_broadcast')
    expect(killed).to.equal(false)
    await new Promise((resolve) => setTimeout(resolve, 20))
    expect(killed).to.equal(true)
  })
})
