import { expect } from 'chai'
import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { CANNOT_START_CODE } from '../../../runtime/process/cannot-start.js'
import { tempDir } from '../../support/temp-dir.js'

const PROGRAMS = [
  'actors/auditor',
  'actors/chain-reader',
  'actors/matcher',
  'actors/order-intake',
  'actors/projector',
  'actors/transfer-submitter',
  'actors/ws-fanout',
  'api-gateway',
  'executor',
] as const

describe('a program without its settings', function () {
  const directory = tempDir()
  after(() => directory.remove())

  for (const program of PROGRAMS) {
    it(`${program} says what is missing in one line, and ends with code ${CANNOT_START_CODE}`, () => {
      const main = fileURLToPath(new URL(`../../../${program}/main.js`, import.meta.url))
      const { status, stdout, stderr } = spawnSync(
        process.execPath,
        ['--enable-source-maps', main],
        {
          env: {},
          cwd: directory.path,
          encoding: 'utf8',
        },
      )
      expect(stdout).to.equal('')
      expect(stderr.trimEnd()).to.match(/^BadConfiguration: [^\n]*[A-Z_]+ [^\n]*$/)
      expect(status).to.equal(CANNOT_START_CODE)
    })
  }
})
