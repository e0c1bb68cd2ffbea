import { expect } from 'chai'
import { type Patient, createDeadlines } from '../../bus-schemas/ask-deadlines.js'
import { eventually } from '../support/eventually.js'

interface Item extends Patient<Item> {
  readonly name: string
}

const item = (name: string, timeoutMs: number): Item => ({
  ...{ name, timeoutMs },
  ...{ dueAt: 0, earlier: undefined, later: undefined },
})

/** Deadlines that write down what fell due, and how long after it was added. */
function writtenDown() {
  const due: string[] = []
  const afterMs: number[] = []
  const addedAt = new Map<Item, number>()
  const deadlines = createDeadlines<Item>((one) => {
    due.push(one.name)
    afterMs.push(performance.now() - (addedAt.get(one) ?? 0) - one.timeoutMs)
  })
  const add = (name: string, timeoutMs: number): Item => {
    const added = item(name, timeoutMs)
    addedAt.set(added, performance.now())
    deadlines.add(added)
    return added
  }
  return { due, afterMs, deadlines, add }
}

const timersNow = (): number =>
  process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length

describe('deadlines', () => {
  it('expire what is left, the oldest first, and nothing before its time', async () => {
    const { due, afterMs, add } = writtenDown()
    for (const name of ['a', 'b', 'c']) {
      add(name, 40)
      await new Promise((resolve) => setTimeout(resolve, 5))
    }
    await eventually(() => due.length === 3)
    expect(due).to.deep.equal(['a', 'b', 'c'])
    for (const late of afterMs) expect(late).to.be.at.least(0)
  })

  it('say nothing of what was removed, even the one that the timer was set for', async () => {
    const { due, add, deadlines } = writtenDown()
    const first = add('first', 20)
    add('second', 20)
    const third = add('third', 20)
    deadlines.remove(first)
    deadlines.remove(third)
    deadlines.remove(third)
    add('last', 20)
    await eventually(() => due.length === 2)
    expect(due).to.deep.equal(['second', 'last'])
  })

  it('let go of what is taken out, from whatever place, and of its neighbours', async () => {
    const { due, add, deadlines } = writtenDown()
    const items = ['a', 'b', 'c', 'd', 'e'].map((name) => add(name, 20))
    for (const at of [2, 0, 4]) {
      const taken = items[at]
      if (taken !== undefined) deadlines.remove(taken)
      expect(taken).to.include({ earlier: undefined, later: undefined, dueAt: 0 })
    }
    await eventually(() => due.length === 2)
    expect(due).to.deep.equal(['b', 'd'])
  })

  it('keep each patience apart', async () => {
    const { due, add } = writtenDown()
    add('patient', 60)
    add('hasty', 10)
    await eventually(() => due.length === 2)
    expect(due).to.deep.equal(['hasty', 'patient'])
  })

  it('begin anew when all was quiet, and when something is added as another expires', async () => {
    const due: string[] = []
    const deadlines = createDeadlines<Item>(({ name }) => {
      due.push(name)
      if (name === 'a') deadlines.add(item('b', 10))
    })
    deadlines.add(item('a', 10))
    await eventually(() => due.length === 2)
    deadlines.add(item('c', 10))
    await eventually(() => due.length === 3)
    expect(due).to.deep.equal(['a', 'b', 'c'])
  })

  it('need one timer for any number of items, and none once they are cleared', () => {
    const { add, deadlines } = writtenDown()
    const before = timersNow()
    for (let count = 0; count < 1_000; count += 1) add(`${count}`, 60_000)
    expect(timersNow()).to.equal(before + 1)
    deadlines.clear()
    expect(timersNow()).to.equal(before)
  })
})
