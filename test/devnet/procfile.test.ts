import { expect } from 'chai'
import { describe, it } from 'mocha'
import { readFile } from 'node:fs/promises'
import { inProject } from '../../devnet/launcher/binaries.js'
import { parseProcfile } from '../../devnet/launcher/procfile.js'

describe('devnet/procfile', () => {
  it('reads names and commands in order, skipping comments and blank lines', () => {
    expect(parseProcfile('# list\n\na: exec one --x=1:2\n  b-2 :exec two  \n', [])).to.deep.equal([
      { name: 'a', command: 'exec one --x=1:2' },
      { name: 'b-2', command: 'exec two' },
    ])
  })

  it('names the line that is wrong', () => {
    expect(() => parseProcfile('a: one\nnonsense', [])).to.throw('line 2 is not "name: command"')
    expect(() => parseProcfile('a:', [])).to.throw('line 1 is not "name: command"')
    expect(() => parseProcfile('../a: one', [])).to.throw('line 1')
    expect(() => parseProcfile('a: one\na: two', [])).to.throw('line 2 names a a second time')
    expect(() => parseProcfile('# nothing', [])).to.throw('names no process')
  })

  it('lists a matcher for each market on the line of the matchers, and for no other', () => {
    const text = 'a: one\nmatchers: exec node main.js\nb: two'
    expect(parseProcfile(text, ['X-Y', 'P-1'])).to.deep.equal([
      { name: 'a', command: 'one' },
      { name: 'matcher-x-y', command: 'exec env MARKET=X-Y node main.js' },
      { name: 'matcher-p-1', command: 'exec env MARKET=P-1 node main.js' },
      { name: 'b', command: 'two' },
    ])
    expect(() => parseProcfile(`matcher-p-1: one\n${text}`, ['P-1'])).to.throw(
      'line 3 names matcher-p-1 a second time',
    )
  })

  it('the project itself replaces the shell by the process on every line', async () => {
    const entries = parseProcfile(await readFile(inProject('Procfile'), 'utf8'), ['X-Y'])
    expect(entries.map(({ name }) => name)).to.include.members([
      'gateway',
      'matcher-x-y',
      'projector',
    ])
    for (const { command } of entries) expect(command).to.match(/^exec .*\bbundle\/.*main\.js$/)
  })
})
