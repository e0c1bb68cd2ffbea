import { expect } from 'chai'
import type { QueuedSettlement } from '../../executor/settlement.js'
import {
  createWaitingRoom,
  MAX_WAITING,
  MAX_WAITING_OF_OWNER,
} from '../../executor/waiting-room.js'

const one = (): QueuedSettlement => ({}) as QueuedSettlement

describe('the room in which settlements wait', () => {
  /** Full of owners with so many each. */
  function full(each: number) {
    const room = createWaitingRoom()
    const all: QueuedSettlement[] = []
    for (let n = 0; n < MAX_WAITING; n += 1) {
      const next = one()
      all.push(next)
      expect(room.add(next, `${Math.floor(n / each)}`, [])).to.deep.equal({ kind: 'taken' })
    }
    return { room, all }
  }

  it('holds so many of an owner, and more after some have left', () => {
    const room = createWaitingRoom()
    const all = Array.from({ length: MAX_WAITING_OF_OWNER }, one)
    for (const each of all) room.add(each, 'A', [])
    expect(room.add(one(), 'A', [])).to.include({ kind: 'full' })
    expect(room.add(one(), 'B', [])).to.include({ kind: 'taken' })
    room.remove(all.slice(0, 1))
    expect(room.add(one(), 'A', [])).to.include({ kind: 'taken' })
    expect(room.all()).to.have.length(MAX_WAITING_OF_OWNER + 1)
    expect(room.clear()).to.have.length(MAX_WAITING_OF_OWNER + 1)
    expect(room.add(one(), 'A', [])).to.include({ kind: 'taken' })
  })

  it('when it is full, lets the newest of the owner of most go, but none that is busy', () => {
    const { room, all } = full(MAX_WAITING_OF_OWNER)
    const busy = all.slice(MAX_WAITING_OF_OWNER - 1, MAX_WAITING_OF_OWNER)
    const entry = room.add(one(), 'new', busy)
    expect(entry).to.have.property('displaced', all[MAX_WAITING_OF_OWNER - 2])
    expect(room.all()).to.have.length(MAX_WAITING)
  })

  it('when it is full of owners of as many, takes no more', () => {
    const { room } = full(1)
    expect(room.add(one(), 'new', [])).to.include({ kind: 'full' })
  })
})
