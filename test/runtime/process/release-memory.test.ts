import { expect } from 'chai'
import { execFileSync } from 'node:child_process'
import { inProject } from '../../../devnet/launcher/binaries.js'

const MODULE = inProject('dist/runtime/process/release-memory.js')

/** Resident memory of a new process, in MiB: holding what it has made, after it let go of it, and after the release. */
function residentOf(made: string): readonly [held: number, dropped: number, released: number] {
  const program = `
    import { readFileSync } from 'node:fs'
    import { releaseStartMemory } from ${JSON.stringify(MODULE)}
    const resident = () => Number(/VmRSS:\\s+(\\d+)/.exec(readFileSync('/proc/self/status', 'utf8'))[1]) / 1024
    let made = ${made}
    const held = resident()
    if (made.length < 500_000) made = undefined
    await new Promise(setImmediate)
    const dropped = resident()
    const alive = setInterval(() => {}, 1_000)
    await releaseStartMemory(0)
    clearInterval(alive)
    console.log(JSON.stringify([held, dropped, resident(), made?.length]))`
  // A session that is closed too early keeps the process for ever.
  const args = ['--initial-old-space-size=256', '--input-type=module', '-e', program]
  return JSON.parse(
    execFileSync(process.execPath, args, { encoding: 'utf8', timeout: 20_000 }),
  ) as readonly [number, number, number]
}

describe('releaseStartMemory', function () {
  it('gives back what nothing refers to any more, and lets the process end', () => {
    const [held, dropped, released] = residentOf(
      'Array.from({ length: 300_000 }, (_, i) => ({ i, text: `a${i}` }))',
    )
    expect(held - released).to.be.above(15)
    expect(dropped - released).to.be.above(15)
  })

  it('leaves a large heap to V8, because a collection would stop the process for long', () => {
    const [, dropped, released] = residentOf(
      'Array.from({ length: 1_200_000 }, (_, i) => ({ i, text: `a${i}` }))',
    )
    expect(dropped - released).to.be.below(5)
  })
})
