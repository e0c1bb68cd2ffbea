import { expect } from 'chai'
import { statSync } from 'node:fs'
import { join, relative } from 'node:path'
import { makeDirDurably } from '../../data/durable-file.js'
import { tempDir } from '../support/temp-dir.js'

describe('data/durable-file', () => {
  const dir = tempDir()
  after(() => dir.remove())

  it('makes a directory with those above it, also by a relative path, and leaves one that is there', async () => {
    for (const path of [join(dir.path, 'a/b'), relative('.', join(dir.path, 'c/d/e'))])
      for (let times = 0; times < 2; times += 1) {
        await makeDirDurably(path)
        expect(statSync(path).isDirectory(), path).to.equal(true)
      }
  })
})
