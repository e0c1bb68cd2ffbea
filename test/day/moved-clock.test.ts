import { expect } from 'chai'
import { spawnSync } from 'node:child_process'
import { inProject } from '../../devnet/launcher/binaries.js'
import { movedTo, onDay } from './moved-clock.js'
import { ENDS_AT_LAST } from '../support/ends-at-last.js'

const DAY = new Date('2030-01-01T00:00:00Z')
/** Of the start of the programs on a busy machine. */
const WITHIN_S = 120

function run(...command: string[]) {
  const { words, env } = onDay(DAY, command)
  const [program = '', ...rest] = words
  return spawnSync(program, rest, { env, encoding: 'utf8', ...ENDS_AT_LAST })
}

describe('a moved clock', function () {
  it('is that of Node, of its children, of the bus server and of the local chain', () => {
    const { stdout, stderr } = run(process.execPath, inProject('dist/test/day/show-clocks.js'))
    expect(stdout, stderr).to.match(/^\{/)
    const clocks = JSON.parse(stdout) as Record<string, number>
    expect(Object.keys(clocks)).to.deep.equal(['node', 'child', 'bus', 'chain'])
    // What runs on another day already stays on it.
    const day = movedTo() === undefined ? DAY.getTime() : Date.now()
    for (const [program, sec] of Object.entries(clocks)) {
      expect(sec, program).to.be.closeTo(day / 1_000, WITHIN_S)
    }
  })

  it('leaves timers, standard streams and the exit code as they are', () => {
    const script = `setTimeout(() => { console.log('passed'); process.exit(3) }, 200)`
    const { status, stdout } = run(process.execPath, '-e', script)
    expect([status, stdout]).to.deep.equal([3, 'passed\n'])
  })

  it('leaves a stop and a continuation to the program', () => {
    const script = `
      node -e 'setTimeout(() => {}, 2000)' & child=$!
      kill -STOP $child
      until grep -q '^State:.[Tt]' /proc/$child/status; do sleep 0.05; done
      kill -CONT $child && wait $child && echo continued`
    expect(run('sh', '-c', script).stdout).to.equal('continued\n')
  })
})
