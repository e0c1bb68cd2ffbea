import { expect } from 'chai'
import { describe, it } from 'mocha'
import { readFile } from 'node:fs/promises'
import { inProject } from '../../devnet/launcher/binaries.js'
import { parseProcfile } from '../../devnet/launcher/procfile.js'

const NONE = { markets: [], own: [] }

describe('devnet/procfile', () => {
  it('reads names and commands in order, skipping comments and blank lines', () => {
    expect(parseProcfile('# list\n\na: exec one --x=1:2\n  b-2 :exec two  \n', NONE)).to.deep.equal(
      [
        { name: 'a', command: 'exec one --x=1:2' },
        { name: 'b-2', command: 'exec two' },
      ],
    )
  })

  it('names the line that is wrong', () => {
    expect(() => parseProcfile('a: one\nnonsense', NONE)).to.throw('line 2 is not "name: command"')
    expect(() => parseProcfile('a:', NONE)).to.throw('line 1 is not "name: command"')
    expect(() => parseProcfile('../a: one', NONE)).to.throw('line 1')
    expect(() => parseProcfile('a: one\na: two', NONE)).to.throw('line 2 names a a second time')
    expect(() => parseProcfile('# nothing', NONE)).to.throw('names no process')
  })

  it('lists a matcher for each busy market on the line of the matchers, and one for all others', () => {
    const text = 'a: one\nmatchers: exec node main.js\nb: two'
    const own = ['X-Y', 'P-1']
    const busy = [
      { name: 'matcher-x-y', command: 'exec env MARKET=X-Y node main.js' },
      { name: 'matcher-p-1', command: 'exec env MARKET=P-1 node main.js' },
    ]
    const others = {
      name: 'matchers',
      command: 'exec env MARKETS_ELSEWHERE=X-Y,P-1 node main.js',
    }
    const matchers = (...markets: string[]) =>
      parseProcfile(text, { markets, own }).filter(({ name }) => name.startsWith('matcher'))
    expect(matchers()).to.deep.equal([])
    expect(matchers('X-Y', 'P-1')).to.deep.equal(busy)
    expect(matchers('X-Y', 'F-1', 'P-1', 'F-2')).to.deep.equal([...busy, others])
    expect(matchers('F-1')).to.deep.equal([others])
    expect(() => parseProcfile(`matcher-p-1: one\n${text}`, { markets: ['P-1'], own })).to.throw(
      'line 3 names matcher-p-1 a second time',
    )
  })

  it('the project itself replaces the shell by the process on every line', async () => {
    const matchers = { markets: ['X-Y', 'F-1'], own: ['X-Y'] }
    const entries = parseProcfile(await readFile(inProject('Procfile'), 'utf8'), matchers)
    expect(entries.map(({ name }) => name)).to.include.members([
      'gateway',
      'matcher-x-y',
      'matchers',
      'projector',
    ])
    for (const { command } of entries) expect(command).to.match(/^exec .*\bbundle\/.*main\.js$/)
  })
})
