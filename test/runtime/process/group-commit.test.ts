import { expect } from 'chai'
import { createGroupCommit, QueueFull } from '../../../runtime/process/group-commit.js'

/** A flush that waits to be released, and remembers its groups. */
function heldFlush() {
  const groups: number[][] = []
  let release: (error?: Error) => void = () => undefined
  let called: () => void = () => undefined
  const flush = (items: number[]): Promise<void> => {
    groups.push(items)
    called()
    return new Promise((resolve, reject) => {
      release = (error) => (error ? reject(error) : resolve())
    })
  }
  return {
    groups,
    flush,
    release: (error?: Error) => release(error),
    nextFlush: () => new Promise<void>((resolve) => (called = resolve)),
  }
}

const rejection = async (promise: Promise<unknown>): Promise<unknown> => {
  try {
    await promise
  } catch (error) {
    return error
  }
  throw new Error('expected a rejection')
}

describe('createGroupCommit', () => {
  it('flushes one item at once when idle, and what arrives meanwhile as one group', async () => {
    const held = heldFlush()
    const committer = createGroupCommit({ maxItems: 10, maxQueue: 10, flush: held.flush })
    const begun = held.nextFlush()
    const first = committer.submit(1)
    await begun
    const rest = [2, 3, 4].map((item) => committer.submit(item))
    expect(committer.waiting()).to.equal(3)
    const next = held.nextFlush()
    held.release()
    await first
    await next
    held.release()
    await Promise.all(rest)
    expect(held.groups).to.deep.equal([[1], [2, 3, 4]])
  })

  it('bounds a group by number and by weight, but never starves a heavy item', async () => {
    const groups: number[][] = []
    const committer = createGroupCommit<number>({
      maxItems: 3,
      maxQueue: 20,
      maxWeight: 10,
      weigh: (item) => item,
      flush: (items) => {
        groups.push(items)
        return Promise.resolve()
      },
    })
    await Promise.all([1, 1, 1, 1, 6, 6, 50, 2].map((item) => committer.submit(item)))
    expect(groups).to.deep.equal([[1, 1, 1], [1, 6], [6], [50], [2]])
  })

  it('fails exactly the group whose flush failed and goes on', async () => {
    const held = heldFlush()
    const committer = createGroupCommit({ maxItems: 1, maxQueue: 10, flush: held.flush })
    const begun = held.nextFlush()
    const first = rejection(committer.submit(1))
    const second = committer.submit(2)
    await begun
    const next = held.nextFlush()
    held.release(new Error('disk full'))
    expect(await first).to.have.property('message', 'disk full')
    await next
    held.release()
    await second
  })

  it('refuses beyond its queue and after stop, and stop waits for what was taken', async () => {
    const held = heldFlush()
    const committer = createGroupCommit({ maxItems: 1, maxQueue: 1, flush: held.flush })
    const begun = held.nextFlush()
    const first = committer.submit(1)
    await begun
    const second = committer.submit(2)
    expect(await rejection(committer.submit(3))).to.be.instanceOf(QueueFull)
    let stopped = false
    const stop = committer.stop().then(() => (stopped = true))
    expect(await rejection(committer.submit(4))).to.be.instanceOf(QueueFull)
    const next = held.nextFlush()
    held.release()
    await first
    await next
    expect(stopped).to.equal(false)
    held.release()
    await second
    await stop
    expect(held.groups).to.deep.equal([[1], [2]])
  })
})
