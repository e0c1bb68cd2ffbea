import { expect } from 'chai'
import { fstatSync, readdirSync } from 'node:fs'
import { countEnds, createStepNote, createStepNoteFile } from '../../../actors/matcher/step-note.js'
import { tempDir } from '../../support/temp-dir.js'

describe('the note of whose step is running', () => {
  const dir = tempDir()
  after(() => dir.remove())

  it('names the market until the end of the turn of the loop, in a file without a name', async () => {
    const file = createStepNoteFile(dir.path)
    const note = createStepNote(file.fd)
    expect(readdirSync(dir.path)).to.deep.equal([])
    expect(file.take()).to.equal(undefined)
    const first = note.of('a-long-name-1')
    const second = note.of('B')
    first()
    first()
    expect(file.take()).to.equal('a-long-name-1')
    second()
    expect(file.take()).to.equal('B')
    expect(file.take()).to.equal(undefined)
    await new Promise(setImmediate)
    first()
    await new Promise(setImmediate)
    expect(file.take()).to.equal(undefined)
    file.close()
  })

  it('has its room before the first one', async () => {
    const file = createStepNoteFile(dir.path)
    const { size } = fstatSync(file.fd)
    createStepNote(file.fd).of('A')()
    expect(fstatSync(file.fd).size).to.equal(size)
    await new Promise(setImmediate)
    file.close()
  })
})

describe('the ends of a process by market', () => {
  it('are too many with the second within ten minutes', () => {
    let nowMs = 0
    const isTooMany = countEnds(() => nowMs)
    const at = (ms: number, market: string) => {
      nowMs = ms
      return isTooMany(market)
    }
    expect(at(0, 'A')).to.equal(false)
    expect(at(1, 'B')).to.equal(false)
    expect(at(600_000, 'A')).to.equal(true)
    expect(at(600_002, 'B')).to.equal(false)
    expect(at(1_200_002, 'B')).to.equal(true)
  })
})
