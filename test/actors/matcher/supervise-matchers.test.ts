import { expect } from 'chai'
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import {
  superviseMatchers,
  type Matchers,
  type MatchersOptions,
} from '../../../actors/matcher/every-market.js'
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
    const { MARKET, PARENT_WATCH, MARKETS_ELSEWHERE } = process.env
    const fs = require('fs')
    const file = MARKET === '*' ? 'shared' : MARKET
    fs.appendFileSync('${dir.path}/' + file, process.pid + ' ' + PARENT_WATCH + '\\n')
    if (MARKET.startsWith('broken')) process.exit(3)
    if (MARKET.startsWith('hopeless') || fs.existsSync('${dir.path}/' + file + '-ends')) process.exit(78)
    if (MARKET === '*') {
      fs.writeFileSync('${dir.path}/elsewhere', MARKETS_ELSEWHERE)
      const market = fs.existsSync('${dir.path}/ends') && fs.readFileSync('${dir.path}/ends', 'utf8')
      if (market && !MARKETS_ELSEWHERE.split(',').includes(market)) {
        fs.writeSync(3, Buffer.alloc(256).fill(market, 0, market.length), 0, 256, 0)
        process.kill(process.pid, 'SIGKILL')
      }
    }
    process.stdin.on('end', () => process.exit()).resume()
    setInterval(() => {}, 10_000)`
  const notesOf = (market: string): string[] => {
    const file = join(dir.path, market)
    // A file is there before its first line.
    const text = existsSync(file) ? readFileSync(file, 'utf8').trim() : ''
    return text === '' ? [] : text.split('\n')
  }
  const startsOf = (market: string): number[] => notesOf(market).map((note) => parseInt(note, 10))

  const matchersOf = (...markets: string[]) => supervised({ markets, own: markets })
  type Given = Pick<MatchersOptions, 'markets' | 'own' | 'elapsedMs' | 'pauseMs'>
  function supervised(options: Given) {
    const lines: Line[] = []
    const write = (line: string): void => void lines.push(JSON.parse(line) as Line)
    const log = createLog('matchers', 'info', { write })
    const down: string[] = []
    const matchers = superviseMatchers({
      onDown: (market) => down.push(market),
      elsewhere: ['other'],
      ...options,
      args: ['-e', program, '--'],
      log,
    })
    running.push(matchers)
    /** What was logged of a market, as members of each line. */
    const said = (market: string, ...members: string[]) =>
      lines
        .filter((line) => line.market === market)
        .map((line) => members.map((member) => line[member]))
    const words = () => lines.map(({ msg, market }) => [msg, market])
    return { matchers, said, words, down }
  }
  afterEach(() => {
    for (const name of ['shared', 'ends', 'elsewhere', 'shared-ends', 'busy', 'broken'])
      rmSync(join(dir.path, name), { force: true })
  })
  /** From now on the shared process is killed at its start, as by a step of this market, while it runs it. */
  const endsUnder = (market: string) => writeFileSync(join(dir.path, 'ends'), market)
  const elsewhere = () => readFileSync(join(dir.path, 'elsewhere'), 'utf8')

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

  it('leaves one down that says five times that no restart helps, beside the others, and says so once', async () => {
    const markets = ['hopeless', 'next', 'broken']
    const { said, down } = supervised({ markets, own: markets, pauseMs: () => 1 })
    await eventually(() => expect(down).to.deep.equal(['hopeless']))
    // In this time it would have been started again.
    const tried = startsOf('broken').length
    await eventually(() => startsOf('broken').length >= tried + 3)
    expect(startsOf('hopeless')).to.have.length(5)
    expect(startsOf('next')).to.have.length(1)
    expect(said('hopeless', 'level', 'msg', 'reason').slice(-2)).to.deep.equal([
      ['info', 'matcher ended', undefined],
      ['error', 'matcher stays down until what its last line says is mended', 'ended with code 78'],
    ])
    expect(down).to.deep.equal(['hopeless'])
  })

  it('names each market of a shared process that stays down, later ones too', async () => {
    writeFileSync(join(dir.path, 'shared-ends'), '')
    const markets = ['calm', 'quiet', 'busy']
    const { matchers, down } = supervised({ markets, own: ['busy'], pauseMs: () => 1 })
    await eventually(() => expect(down).to.deep.equal(['calm', 'quiet']))
    matchers.add('later')
    matchers.add('calm')
    expect(down).to.deep.equal(['calm', 'quiet', 'later'])
    await eventually(() => startsOf('busy').length === 1)
    expect(startsOf('shared')).to.have.length(5)
  })

  it('runs one that is added later, and stops it with the others', async () => {
    const { matchers } = supervised({ markets: ['first'], own: ['first', 'later'] })
    matchers.add('later')
    await eventually(() => startsOf('later').length === 1 && startsOf('first').length === 1)
    const started = [...startsOf('first'), ...startsOf('later')]
    expect(started.every(isRunning)).to.equal(true)
    await matchers.stop()
    expect(started.some(isRunning)).to.equal(false)
  })

  it('runs all that are not busy in one process, and later ones with it, and none that is elsewhere', async () => {
    const { matchers } = supervised({ markets: ['other', 'quiet', 'busy', 'calm'], own: ['busy'] })
    await eventually(() => startsOf('shared').length === 1 && startsOf('busy').length === 1)
    await eventually(() => elsewhere() === 'other,busy')
    matchers.add('newer')
    await matchers.stop()
    expect(startsOf('shared')).to.have.length(1)
    expect(['other', 'quiet', 'calm', 'newer'].flatMap(notesOf)).to.deep.equal([])
  })

  it('starts no shared process while each market has its own', async () => {
    supervised({ markets: ['one'], own: ['one'] })
    await eventually(() => startsOf('one').length === 1)
    expect(startsOf('shared')).to.deep.equal([])
  })

  it('gives a process of its own to a market under whose step the shared one ended twice in ten minutes', async () => {
    endsUnder('heavy')
    const { words, down } = supervised({
      markets: ['heavy', 'light'],
      own: [],
      pauseMs: () => 1,
    })
    await eventually(() => startsOf('heavy').length === 1 && startsOf('shared').length === 3)
    await eventually(() => elsewhere() === 'other,heavy')
    expect(words().filter(([, market]) => market !== undefined)).to.deep.equal([
      ['the shared process ended under the step of a market', 'heavy'],
      ['the shared process ended under the step of a market', 'heavy'],
      ['a market has ended its process twice, it gets one of its own', 'heavy'],
      ['matcher started', 'heavy'],
    ])
    // What keeps the shared one down does not concern it.
    writeFileSync(join(dir.path, 'shared-ends'), '')
    process.kill(startsOf('shared').at(-1) ?? 0, 'SIGKILL')
    await eventually(() => expect(down).to.deep.equal(['light']))
    expect(startsOf('heavy').map(isRunning)).to.deep.equal([true])
  })

  it('leaves it there when the two ends are further apart, or no step was running', async () => {
    let nowMs = 0
    endsUnder('slow')
    supervised({ markets: ['slow'], own: [], elapsedMs: () => (nowMs += 600_001) })
    await eventually(() => startsOf('shared').length === 4)
    await eventually(() => elsewhere() === 'other')
    rmSync(join(dir.path, 'ends'))
    await eventually(() => startsOf('shared').some(isRunning))
    const ended = startsOf('shared').length
    process.kill(startsOf('shared').at(-1) ?? 0, 'SIGKILL')
    await eventually(() => startsOf('shared').length > ended)
    expect(startsOf('slow')).to.deep.equal([])
  })
})
