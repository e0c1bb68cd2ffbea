import { expect } from 'chai'
import { rmSync } from 'node:fs'
import { armCrashPoints } from '../../../core/crash-point.js'
import { NoAnswer } from '../../../runtime/bus/bus.js'
import { createMemoryBus, type MemoryBus } from '../../../runtime/bus/memory-bus.js'
import { eventually } from '../../support/eventually.js'
import { tempDir } from '../../support/temp-dir.js'
import { ASK_ADD, openProjection, runToy, TOY_POINTS, type ToyPoint } from './toy-actor.js'
import { declareToy, STREAM, termIn } from './toy-stream.js'

const POINTS = ['lead.before_term', 'lead.after_term', ...TOY_POINTS] as const
const AMOUNTS = [1, 2, 3, 4, 5]

describe('a toy actor', () => {
  let bus: MemoryBus
  let dir: ReturnType<typeof tempDir>
  const ending: (() => void)[] = []
  beforeEach(async () => {
    bus = createMemoryBus()
    dir = tempDir()
    await declareToy(bus)
  })
  afterEach(() => {
    armCrashPoints(undefined)
    for (const end of ending.splice(0)) end()
    dir.remove()
  })

  const pathOf = (id: string): string => `${dir.path}/${id}.db`
  /** A process of it, which ends without cleaning up at the second passing of a point of its own, the first of its lead. */
  function start(id: string, crashAt?: (typeof POINTS)[number]) {
    const line = bus.connect()
    const stopping = new AbortController()
    const state = { isOver: false, passings: 0 }
    const end = (): void => {
      state.isOver = true
      line.setConnected(false)
      stopping.abort(new Error('the process is over'))
    }
    const crash = (point: string): void => {
      if (state.isOver || point !== crashAt) return
      state.passings += 1
      if (!point.startsWith('lead.') && state.passings < 2) return
      end()
      throw new Error(`crashed at ${point}`)
    }
    ending.push(end)
    if (crashAt?.startsWith('lead.') === true) armCrashPoints(crash)
    const pass = (point: ToyPoint): void => crash(point)
    const options = { bus: line, id, path: pathOf(id), pass, signal: stopping.signal }
    // Whatever fails, the process ends.
    runToy({ ...options, onFatal: end }).catch(end)
    return state
  }
  /** A client that asks until it has an answer. */
  async function add(id: string, amount: number): Promise<void> {
    for (;;) {
      try {
        await bus.ask(ASK_ADD, Buffer.from(`${id} ${amount}`), 100)
        return
      } catch (error) {
        if (!(error instanceof NoAnswer)) throw error
        await new Promise((resolve) => setTimeout(resolve, 10))
      }
    }
  }
  async function folded(id: string) {
    const projection = openProjection(pathOf(id))
    projection.fold(await bus.read(STREAM, projection.place().seq + 1, 1_000))
    const rows = projection.rows()
    projection.close()
    return rows
  }

  for (const point of POINTS) {
    it(`adds each amount once when its leader crashes at ${point}, and its standby goes on`, async () => {
      const first = start('a', point)
      if (point.startsWith('lead.')) await eventually(() => first.isOver)
      else await add('n0', 10)
      start('b')
      for (const amount of AMOUNTS) await add(`n${amount}`, amount)
      expect(first.isOver).to.equal(true)
      const rows = await folded('b')
      const asked = [
        ...(point.startsWith('lead.') ? [] : [['n0', 10]]),
        ...AMOUNTS.map((n) => [`n${n}`, n]),
      ]
      expect(rows.map(({ id, amount }) => [id, amount])).to.deep.equal(asked)
      // On the disk of the one that crashed, and on none.
      expect(await folded('a')).to.deep.equal(rows)
      rmSync(pathOf('a'))
      expect(await folded('a')).to.deep.equal(rows)
      const terms = (await bus.read(STREAM, 1, 1_000)).flatMap(({ data }) => termIn(data) ?? [])
      expect(terms).to.deep.equal([...new Set(terms)].toSorted((x, y) => x - y))
    })
  }
})
