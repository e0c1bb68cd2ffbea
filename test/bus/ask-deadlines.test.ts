import { expect } from 'chai'
import { createDeadlines } from '../../bus-schemas/ask-deadlines.js'
import { eventually } from '../support/eventually.js'

interface Item {
  readonly name: string
  readonly timeoutMs: number
}

/** Deadlines that write down what fell due, and how long after it was added. */
function writtenDown() {
  const due: string[] = []
  const afterMs: number[] = []
  const addedAt = new Map<Item, number>()
  const deadlines = createDeadlines<Item>((item) => {
    due.push(item.name)
    afterMs.push(performance.now() - (addedAt.get(item) ?? 0) - item.timeoutMs)
  })
  const add = (name: string, timeoutMs: number): Item => {
    const item = { name, timeoutMs }
    addedAt.set(item, performance.now())
    deadlines.add(item)
    return item
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
      if (name === 'a') deadlines.add({ name: 'b', timeoutMs: 10 })
    })
    deadlines.add({ name: 'a', timeoutMs: 10 })
    await eventually(() => due.length === 2)
    deadlines.add({ name: 'c', timeoutMs: 10 })
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
