import { expect } from 'chai'
import { startChild } from '../../../devnet/launcher/child.js'
import { identify } from '../../../devnet/launcher/pids.js'
import { CANNOT_START_CODE } from '../../../runtime/process/cannot-start.js'
import { supervise, type Child } from '../../../runtime/process/supervisor.js'
import { eventually } from '../../support/eventually.js'

const shell = (script: string): Promise<Child> =>
  startChild({ command: '/bin/sh', args: ['-c', script], cwd: '/', env: {}, onLine: () => {} })

describe('runtime/process/supervisor', () => {
  it('starts a process again after it ended, says so, and not after a stop', async () => {
    const pids: number[] = []
    const crashes: string[] = []
    const supervised = supervise({
      name: 'sleeper',
      start: async (spawned) => spawned(await shell('exec sleep 60')),
      onStart: (pid) => pids.push(pid),
      onEnd: () => {},
      onCrash: (reason, inARow) => crashes.push(`${reason}, ${inARow}`),
      onCrashLoop: () => {},
      pauseMs: () => 1,
    })
    await supervised.ready
    supervised.signal('SIGKILL')
    await eventually(() => pids.length === 2)
    expect(crashes).to.deep.equal(['ended with SIGKILL, 1'])
    expect(await supervised.stop(2_000)).to.include({ signal: 'SIGTERM' })
    expect(crashes).to.have.length(1)
    expect(pids.map((pid) => identify(pid))).to.deep.equal([undefined, undefined])
  })

  it('pauses longer after each crash, and reports a process that keeps ending', async () => {
    const counts: number[] = []
    const loops: number[] = []
    const supervised = supervise({
      name: 'broken',
      start: async (spawned) => spawned(await shell('exit 3')),
      onStart: () => {},
      onEnd: () => {},
      onCrash: (_, inARow) => counts.push(inARow),
      onCrashLoop: (inARow) => loops.push(inARow),
      pauseMs: (inARow) => inARow,
    })
    await eventually(() => counts.length >= 10)
    await supervised.stop(1_000)
    expect(counts.slice(0, 10)).to.deep.equal([1, 2, 3, 4, 5, 6, 7, 8, 9, 10])
    expect(loops.slice(0, 2)).to.deep.equal([5, 10])
  })

  it('reports at once a process that says that no restart helps', async () => {
    const loops: number[] = []
    const supervised = supervise({
      name: 'unconfigured',
      start: async (spawned) => spawned(await shell(`exit ${CANNOT_START_CODE}`)),
      onStart: () => {},
      onEnd: () => {},
      onCrash: () => {},
      onCrashLoop: (inARow) => loops.push(inARow),
      pauseMs: () => 1,
    })
    await eventually(() => loops.length >= 2)
    await supervised.stop(1_000)
    expect(loops.slice(0, 2)).to.deep.equal([1, 2])
  })

  it('leaves down what says five times in a row that no restart helps, where it is asked to', async () => {
    let starts = 0
    const reasons: string[] = []
    const loops: number[] = []
    const supervised = supervise({
      name: 'unconfigured',
      start: async (spawned) => {
        starts += 1
        // One such end, between others, is of a moment.
        const isOther = starts === 1 || starts === 3
        spawned(await shell(`exit ${isOther ? 3 : CANNOT_START_CODE}`))
      },
      onStart: () => {},
      onEnd: () => {},
      onCrash: () => {},
      onCrashLoop: (inARow) => loops.push(inARow),
      onHopeless: (reason) => reasons.push(reason),
      pauseMs: () => 1,
    })
    await eventually(() => reasons.length === 1)
    expect(await supervised.stop(1_000)).to.equal(undefined)
    expect(starts).to.equal(8)
    expect(loops).to.deep.equal([5])
    expect(reasons).to.deep.equal(['ended with code 78'])
  })

  it('counts anew after it has run for half a minute', async () => {
    let nowMs = 0
    let starts = 0
    const counts: number[] = []
    const reasons: string[] = []
    const supervised = supervise({
      name: 'mended',
      start: async (spawned) => {
        starts += 1
        spawned(await shell(`exit ${CANNOT_START_CODE}`))
        // The fifth has run for long.
        if (starts === 5) nowMs += 30_000
      },
      onStart: () => {},
      onEnd: () => {},
      onCrash: (_, inARow) => counts.push(inARow),
      onCrashLoop: () => {},
      onHopeless: (reason) => reasons.push(reason),
      pauseMs: () => 1,
      elapsedMs: () => nowMs,
    })
    await eventually(() => reasons.length === 1)
    await supervised.stop(1_000)
    expect(counts).to.deep.equal([1, 2, 3, 4, 1, 2, 3, 4])
    expect(starts).to.equal(9)
  })
})
