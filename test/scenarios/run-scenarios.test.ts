import { expect } from 'chai'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { firstWords, linesPage } from './lines.js'
import { runScenario, STATEMENTS } from './scenario.js'

const folder = new URL('../../../test/scenarios/', import.meta.url)
const files = readdirSync(folder).filter((name) => name.endsWith('.book'))

describe('scenarios of the book', () => {
  it('there are at least thirty', () => {
    expect(files.length).to.be.at.least(30)
  })

  for (const name of files.sort()) {
    const [title = name] = readFileSync(new URL(name, folder), 'utf8').split('\n')
    it(title.replace(/^#\s*/, ''), () => {
      runScenario(readFileSync(new URL(name, folder), 'utf8'))
    })
  }

  it('each statement stands in README.md, which is made of lines.ts', () => {
    const page = new URL('README.md', folder)
    if (process.env.WRITE_DOCS === '1') writeFileSync(page, linesPage())
    expect(readFileSync(page, 'utf8')).to.equal(linesPage())
    expect([...firstWords()].toSorted()).to.deep.equal(
      ['->', ...Object.keys(STATEMENTS)].toSorted(),
    )
  })

  it('a scenario that leaves out what happened fails', () => {
    expect(() => runScenario('place a by ann buy 1 @ 1')).to.throw('not stated')
    expect(() => runScenario('place a by ann buy 1 @ 1\n-> a active 2 open')).to.throw('line 2')
  })
})
