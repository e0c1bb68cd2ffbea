import { expect } from 'chai'
import fc from 'fast-check'
import { createFairOrder, type FairnessKey } from '../../executor/fair-order.js'

interface Match extends FairnessKey {
  readonly name: string
}

const match = (name: string, owner: string, accounts: readonly number[], isDust = false): Match => {
  return { name, owner, isDust, accountIds: accounts.map(BigInt) }
}
const times = <T>(count: number, of: (i: number) => T): T[] =>
  Array.from({ length: count }, (_, i) => of(i))
const ROOM = { most: 112, mostDust: 11 }

describe('the turns of settlements', () => {
  const order = () => createFairOrder<Match>((one) => one)
  const names = (group: readonly Match[]) => group.map(({ name }) => name).join(' ')

  it('let one of another owner wait for one of a thousand (SET-068)', () => {
    const thousand = times(1_000, (i) => match(`a${i}`, 'A', [1, 100 + i]))
    const { group, moreWait } = order().next([...thousand, match('b', 'B', [2, 3])], ROOM)
    expect(group.findIndex(({ name }) => name === 'b')).to.equal(1)
    expect([group.length, moreWait]).to.deep.equal([112, true])
  })

  it('are given one after the other, over several groups', () => {
    const fair = order()
    const waiting = [
      ...times(4, (i) => match(`a${i}`, 'A', [1, 10 + i])),
      ...times(2, (i) => match(`b${i}`, 'B', [2, 20 + i])),
      match('c', 'C', [3, 30]),
    ]
    const first = fair.next(waiting, { most: 2, mostDust: 0 })
    expect(names(first.group)).to.equal('a0 b0')
    fair.served(first.group)
    const left = waiting.filter((one) => !first.group.includes(one))
    expect(names(fair.next(left, { most: 5, mostDust: 0 }).group)).to.equal('c a1 b1 a2 a3')
    expect(names(fair.next(left, { most: 5, mostDust: 0 }).group)).to.equal('c a1 b1 a2 a3')
  })

  it('let what pays pass dust of its account, and dust pass nothing', () => {
    const waiting = [
      ...times(430, (i) => match(`d${i}`, `D${i}`, [1, 100 + i], true)),
      match('pays', 'V', [1, 2]),
      match('after', 'D', [2, 3], true),
    ]
    const { group, moreWait } = order().next(waiting, { most: 112, mostDust: 3 })
    expect(names(group)).to.equal('pays d0 d1 d2')
    expect(moreWait).to.equal(false)
  })

  it('put dust between the others, the first behind four', () => {
    const waiting = [
      ...times(20, (i) => match('d', 'D', [200 + i], true)),
      ...times(30, (i) => match('p', 'P', [300 + i])),
    ]
    const { group } = order().next(waiting, { most: 25, mostDust: 10 })
    expect(names(group).replaceAll(' ', '')).to.equal('ppppdpppppppppdpppppppppd')
  })

  const anyWaiting = fc.array(
    fc.record({
      owner: fc.constantFrom('A', 'B', 'C', 'D'),
      accounts: fc.uniqueArray(fc.integer({ min: 1, max: 12 }), { minLength: 2, maxLength: 2 }),
      isDust: fc.boolean(),
    }),
    { maxLength: 60 },
  )
  const matchesOf = (drawn: typeof anyWaiting extends fc.Arbitrary<infer T> ? T : never): Match[] =>
    drawn.map(({ owner, accounts, isDust }, i) => match(`${i}`, owner, accounts, isDust))

  it('keep the order of each account, but for what pays and passes dust; dust keeps to its share', () => {
    fc.assert(
      fc.property(anyWaiting, fc.nat(30), fc.nat(5), (drawn, most, mostDust) => {
        const waiting = matchesOf(drawn)
        const { group } = order().next(waiting, { most, mostDust })
        expect(new Set(group).size).to.equal(group.length)
        expect(group.length).to.be.at.most(most)
        expect(group.filter(({ isDust }) => isDust).length).to.be.at.most(mostDust)
        for (const [place, later] of group.entries()) {
          for (const earlier of waiting.slice(0, waiting.indexOf(later))) {
            if (!earlier.accountIds.some((id) => later.accountIds.includes(id))) continue
            if (earlier.isDust && !later.isDust) continue
            const at = group.indexOf(earlier)
            expect(at !== -1 && at < place, `${later.name} passes ${earlier.name}`).to.equal(true)
          }
        }
      }),
    )
  })

  it('come to every match, dust or not, however many more arrive', () => {
    fc.assert(
      fc.property(anyWaiting, anyWaiting, (drawn, arriving) => {
        const fair = order()
        const wanted = matchesOf(drawn)
        let waiting = [...wanted]
        const more = matchesOf(arriving)
        for (let round = 0; round < 4 * 60 + 1; round += 1) {
          const { group } = fair.next(waiting, { most: 8, mostDust: 1 })
          fair.served(group)
          waiting = waiting.filter((one) => !group.includes(one))
          if (!waiting.some((one) => wanted.includes(one))) return
          // As much as is served arrives anew.
          const anew = more.splice(0, group.length)
          waiting.push(...anew)
        }
        expect(waiting.filter((one) => wanted.includes(one))).to.deep.equal([])
      }),
    )
  })

  it('come to every match of an owner, however many new owners arrive without end', () => {
    const fair = order()
    const wanted = times(50, (i) => match(`v${i}`, 'V', [1, 100 + i]))
    // Each of these has one match at a time, and comes back a group after it was served.
    const others = times(400, (i) => match(`o${i}`, `O${i}`, [1_000 + i, 2_000 + i]))
    let waiting = [...wanted, ...others]
    let returning: Match[] = []
    for (let round = 0; round < 100; round += 1) {
      const { group } = fair.next(waiting, ROOM)
      fair.served(group)
      const left = waiting.filter((one) => !group.includes(one))
      waiting = [...left, ...returning]
      returning = group.filter((one) => one.owner !== 'V').map((one) => ({ ...one }))
    }
    expect(names(waiting.filter(({ owner }) => owner === 'V'))).to.equal('')
  })

  it('differ by one at most between owners that wait', () => {
    fc.assert(
      fc.property(
        fc.array(fc.constantFrom('A', 'B', 'C'), { minLength: 1, maxLength: 90 }),
        fc.integer({ min: 1, max: 40 }),
        (owners, most) => {
          const waiting = owners.map((owner, i) => match(`${i}`, owner, [i]))
          const { group } = order().next(waiting, { most, mostDust: 0 })
          const servedOf = (owner: string) => group.filter((one) => one.owner === owner).length
          const waitingOf = (owner: string) => owners.filter((one) => one === owner).length
          for (const owner of new Set(owners)) {
            for (const other of new Set(owners)) {
              if (servedOf(owner) < waitingOf(owner)) {
                expect(servedOf(other)).to.be.at.most(servedOf(owner) + 1)
              }
            }
          }
        },
      ),
    )
  })
})
