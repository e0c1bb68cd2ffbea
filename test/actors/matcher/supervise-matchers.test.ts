import { expect } from 'chai'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { superviseMatchers, type Matchers } from '../../../actors/matcher/every-market.js'
import { createLog } from '../../../runtime/process/log.js'
import { eventually } from '../../support/eventually.js'
import { tempDir } from '../../support/temp-dir.js'

/** The same in each line: the name of the log, its process and the time. */
type Line = Readonly<Record<string, unknown>>

const isRunning = (pid: number): boolean => existsSync(`/proc/${pid}`)

describe('the supervisor of matchers', function () {
  const dir = tempDir()
  const running: Matchers[] = []
  afterEach(() => Promise.all(running.splice(0).map((matchers) => matchers.stop())))
  after(() => dir.remove())

  /** Notes each start; ends at once for a market that cannot start, and otherwise when its input ends. */
  const program = `
    const { MARKET, PARENT_WATCH } = process.env
    require('fs').appendFileSync('${dir.path}/' + MARKET, process.pid + ' ' + PARENT_WATCH + '\\n')
    if (MARKET.startsWith('broken')) process.exit(3)
    process.stdin.on('end', () => process.exit()).resume()
    setInterval(() => {}, 10_000)`
  const notesOf = (market: string): string[] => {
    const file = join(dir.path, market)
    // A file is there before its first line.
    const text = existsSync(file) ? readFileSync(file, 'utf8').trim() : ''
    return text === '' ? [] : text.split('\n')
  }
  const startsOf = (market: string): number[] => notesOf(market).map((note) => parseInt(note, 10))

  function matchersOf(...markets: string[]) {
    const lines: Line[] = []
    const write = (line: string): void => void lines.push(JSON.parse(line) as Line)
    const log = createLog('matchers', 'info', { write })
    const matchers = superviseMatchers({ markets, args: ['-e', program], log })
    running.push(matchers)
    /** What was logged of a market, as members of each line. */
    const said = (market: string, ...members: string[]) =>
      lines
        .filter((line) => line.market === market)
        .map((line) => members.map((member) => line[member]))
    return { matchers, said }
  }

  it('runs a process for each market, told of its market and to end with its parent', async () => {
    const { matchers, said } = matchersOf('a', 'b')
    await eventually(() => notesOf('a').length + notesOf('b').length === 2)
    const [[a = 0], [b = 0]] = [startsOf('a'), startsOf('b')]
    expect([notesOf('a'), notesOf('b')]).to.deep.equal([[`${a} 1`], [`${b} 1`]])
    expect(said('a', 'level', 'msg', 'pid')).to.deep.equal([['info', 'matcher started', a]])
    expect([a, b].every(isRunning)).to.equal(true)
    await matchers.stop()
    expect([a, b].some(isRunning)).to.equal(false)
    expect(said('b', 'msg', 'pid').at(-1)).to.deep.equal(['matcher ended', b])
  })

  it('starts a killed one again, and no other', async () => {
    const { said } = matchersOf('killed', 'whole')
    await eventually(() => startsOf('killed').length + startsOf('whole').length === 2)
    const [killed = 0] = startsOf('killed')
    process.kill(killed, 'SIGKILL')
    await eventually(() => startsOf('killed').length === 2)
    expect(startsOf('whole')).to.have.length(1)
    expect(said('killed', 'level', 'reason', 'in_a_row', 'pause_ms')).to.deep.include([
      'warn',
      'ended with SIGKILL',
      1,
      250,
    ])
  })

  it('tries one that cannot start again and again, beside the others, and says when it keeps ending', async () => {
    const { matchers, said } = matchersOf('broken', 'beside')
    await eventually(() => said('broken', 'level').flat().includes('error'))
    expect(said('broken', 'level', 'msg', 'in_a_row').slice(-2)).to.deep.equal([
      ['warn', 'matcher is restarted', 5],
      ['error', 'matcher keeps ending', 5],
    ])
    expect(startsOf('beside')).to.have.length(1)
    await matchers.stop()
    expect([...startsOf('broken'), ...startsOf('beside')].some(isRunning)).to.equal(false)
  })

  it('runs one that is added later, and stops it with the others', async () => {
    const { matchers } = matchersOf('first')
    matchers.add('later')
    await eventually(() => startsOf('later').length === 1 && startsOf('first').length === 1)
    const started = [...startsOf('first'), ...startsOf('later')]
    expect(started.every(isRunning)).to.equal(true)
    await matchers.stop()
    expect(started.some(isRunning)).to.equal(false)
  })
})
