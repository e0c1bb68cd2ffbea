import { readFile } from 'node:fs/promises'
import { expect } from 'chai'
import { describe, it } from 'mocha'
import { parseProcfile } from '../../devnet/procfile.js'
import { inProject } from '../../devnet/project-root.js'

describe('devnet/procfile', () => {
  it('reads names and commands in order, skipping comments and blank lines', () => {
    expect(parseProcfile('# list\n\na: exec one --x=1:2\n  b-2 :exec two  \n')).to.deep.equal([
      { name: 'a', command: 'exec one --x=1:2' },
      { name: 'b-2', command: 'exec two' },
    ])
  })

  it('names the line that is wrong', () => {
    expect(() => parseProcfile('a: one\nnonsense')).to.throw('line 2 is not "name: command"')
    expect(() => parseProcfile('a:')).to.throw('line 1 is not "name: command"')
    expect(() => parseProcfile('../a: one')).to.throw('line 1')
    expect(() => parseProcfile('a: one\na: two')).to.throw('line 2 names a a second time')
    expect(() => parseProcfile('# nothing')).to.throw('names no process')
  })

  it('the project itself replaces the shell by the process on every line', async () => {
    const entries = parseProcfile(await readFile(inProject('Procfile'), 'utf8'))
    expect(entries.map(({ name }) => name)).to.include.members(['gateway', 'executor', 'projector'])
    for (const { command } of entries) expect(command).to.match(/^exec .*\bdist\/.*main\.js$/)
  })
})
