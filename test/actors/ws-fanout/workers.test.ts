import { expect } from 'chai'
import { NoWorkerLeft, superviseWorkers } from '../../../actors/ws-fanout/workers.js'
import { startChild } from '../../../devnet/launcher/child.js'
import { CANNOT_START_CODE } from '../../../runtime/process/cannot-start.js'
import { createLog } from '../../../runtime/process/log.js'
import type { RunningProcess } from '../../../runtime/process/process.js'
import { eventually } from '../../support/eventually.js'

const STAYS_DOWN = 'worker stays down until what its last line says is mended'

describe('the workers of the fan-out', () => {
  let workers: RunningProcess | undefined
  afterEach(() => workers?.stop())

  /** Runs a shell's script in place of each worker. */
  function run(...scripts: readonly string[]) {
    const starts = scripts.map(() => 0)
    const ends: unknown[] = []
    const lines: Readonly<Record<string, unknown>>[] = []
    const write = (line: string): void => void lines.push(JSON.parse(line) as (typeof lines)[0])
    workers = superviseWorkers({
      count: scripts.length,
      log: createLog('ws-fanout', 'info', { write }),
      pauseMs: () => 1,
      onNoneLeft: (error) => ends.push(error),
      start: (worker) => {
        starts[worker - 1] = (starts[worker - 1] ?? 0) + 1
        const args = ['-c', scripts[worker - 1] ?? '']
        return startChild({ command: '/bin/sh', args, cwd: '/', env: {}, onLine: () => {} })
      },
    })
    const down = () => lines.filter(({ msg }) => msg === STAYS_DOWN)
    return { starts, ends, down }
  }
  const HOPELESS = `exit ${CANNOT_START_CODE}`

  it('leave one down that cannot start, say so once, and start another again that was killed', async () => {
    const { starts, ends, down } = run(HOPELESS, 'exec sleep 60', 'exit 3')
    await eventually(() => down().length === 1)
    const tried = starts[2] ?? 0
    await eventually(() => (starts[2] ?? 0) >= tried + 3)
    expect(starts.slice(0, 2)).to.deep.equal([5, 1])
    expect(down().map(({ worker, level, reason }) => [worker, level, reason])).to.deep.equal([
      [1, 'error', 'ended with code 78'],
    ])
    expect(ends).to.deep.equal([])
  })

  it('end the fan-out when none is left', async () => {
    const { starts, ends, down } = run(HOPELESS, HOPELESS)
    await eventually(() => ends.length > 0)
    expect(ends).to.have.length(1)
    expect(ends[0]).to.be.instanceOf(NoWorkerLeft)
    expect(down()).to.have.length(2)
    expect(starts).to.deep.equal([5, 5])
  })
})
