import { expect } from 'chai'
import { createTurns } from '../../executor/turns.js'

/** Tasks that run until they are told to end, and the order in which they began. */
function heldTasks() {
  const begun: string[] = []
  const ends = new Map<string, (error?: Error) => void>()
  const task = (name: string) => () => {
    begun.push(name)
    return new Promise<string>((resolve, reject) => {
      ends.set(name, (error) => (error === undefined ? resolve(name) : reject(error)))
    })
  }
  return { begun, task, end: (name: string, error?: Error) => ends.get(name)?.(error) }
}

describe('turns', () => {
  it('begin as many as may run at once, then the others in the order they came', async () => {
    const { begun, task, end } = heldTasks()
    const turns = createTurns({ atOnce: 2, maxWaiting: 2 })
    const answers = ['a', 'b', 'c', 'd'].map((name) => turns.inTurn(task(name)))
    expect(await turns.inTurn(task('too many'))).to.equal(undefined)
    expect(begun).to.deep.equal(['a', 'b'])
    end('b')
    expect(await answers[1]).to.equal('b')
    end('a', new Error('boom'))
    const fate = await answers[0]?.catch((error: unknown) => (error as Error).message)
    expect(fate).to.equal('boom')
    expect(begun).to.deep.equal(['a', 'b', 'c', 'd'])
    end('c')
    end('d')
    expect(await Promise.all([answers[2], answers[3]])).to.deep.equal(['c', 'd'])
    const again = turns.inTurn(() => Promise.resolve('again'))
    expect(await again).to.equal('again')
  })

  it('once closed, end what waits without beginning it, and let what runs finish', async () => {
    const { begun, task, end } = heldTasks()
    const turns = createTurns({ atOnce: 1, maxWaiting: 1 })
    const running = turns.inTurn(task('running'))
    const waiting = turns.inTurn(task('waiting'))
    turns.close()
    expect(await waiting).to.equal(undefined)
    expect(await turns.inTurn(task('late'))).to.equal(undefined)
    end('running')
    expect(await running).to.equal('running')
    expect(begun).to.deep.equal(['running'])
  })
})
