import { expect } from 'chai'
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { inProject } from '../../devnet/launcher/binaries.js'
import { tempDir } from '../support/temp-dir.js'

/** Runs a line of shell with the function `step`, which speaks up each second. */
function runStep(line: string) {
  const dir = tempDir()
  try {
    const script = `setup_log=${join(dir.path, 'log')}; . ${inProject('devnet/step.sh')}; ${line}`
    const env = { PATH: process.env.PATH, step_tick_s: '1' }
    return spawnSync('sh', ['-euc', script], { env, encoding: 'utf8', timeout: 30_000 })
  } finally {
    dir.remove()
  }
}

describe('a step of the setup', function () {
  this.timeout(60_000)

  it('says that it goes on, and how long it took, without what the command prints', () => {
    const { status, stdout, stderr } = runStep(`step 'wait' sh -c 'echo loud; sleep 3'`)
    expect([status, stderr]).to.deep.equal([0, ''])
    expect(stdout).to.match(/^( {2}wait: \d s so far\n)+ {2}wait: \d+ ms\n$/)
  })

  it('shows the end of what the command printed when it fails', () => {
    const { status, stdout, stderr } = runStep(
      `step 'break' sh -c 'echo the cause >&2; exit 3' || echo stop`,
    )
    expect([status, stdout]).to.deep.equal([0, '  break: failed\nstop\n'])
    expect(stderr).to.equal('the cause\n')
  })
})
