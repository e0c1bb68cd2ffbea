import { expect } from 'chai'
import { spawnSync } from 'node:child_process'
import { mkdirSync, realpathSync, writeFileSync } from 'node:fs'
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

describe('the setup', () => {
  it('says in one line that another user’s cache is in its way', () => {
    const dir = tempDir()
    try {
      // No user can append to a directory, the superuser included.
      mkdirSync(join(dir.path, '.cache/setup.log'), { recursive: true })
      const run = spawnSync('sh', ['-euc', `. ${inProject('devnet/setup.sh')}`], {
        ...{ cwd: dir.path, env: { PATH: process.env.PATH }, encoding: 'utf8', timeout: 30_000 },
      })
      expect([run.status, run.stdout]).to.deep.equal([1, ''])
      const log = join(realpathSync(dir.path), '.cache/setup.log')
      expect(run.stderr).to.match(
        new RegExp(`^venue: ${log} cannot be written; it may belong to another user: .*\\n$`),
      )
    } finally {
      dir.remove()
    }
  })

  for (const [version, why] of [
    ['v20.18.3', 'is too old; 20.19 or newer is needed'],
    ['v21.7.3', 'lacks zlib.crc32; take Node 20.19 or 22.2'],
    ['v22.1.0', 'lacks zlib.crc32; take Node 20.19 or 22.2'],
    ['v24.21.0', 'aborts while better-sqlite3 12 collects its statements; take Node 20.19 or 22'],
  ] as const)
    it(`refuses Node ${version} in one line`, () => {
      const dir = tempDir()
      try {
        writeFileSync(join(dir.path, 'node'), `#!/bin/sh\necho ${version}\n`, { mode: 0o755 })
        const run = spawnSync('sh', ['-euc', '. devnet/setup.sh'], {
          ...{ cwd: inProject('.'), encoding: 'utf8', timeout: 30_000 },
          env: { PATH: `${dir.path}:${process.env.PATH}` },
        })
        expect([run.status, run.stdout]).to.deep.equal([1, ''])
        expect(run.stderr).to.equal(`venue: Node ${version} ${why}\n`)
      } finally {
        dir.remove()
      }
    })
})

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
