import { expect } from 'chai'
import { EventEmitter } from 'node:events'
import { BusUnavailable } from '../../../runtime/bus/bus.js'
import {
  BUS_SYNCED,
  BUS_SYNCS,
  SYNC_BUS,
  syncBus,
  type ParentChannel,
} from '../../../runtime/bus/sync-bus.js'

/** A program that has started this one. */
class Parent extends EventEmitter {
  readonly heard: unknown[] = []
  send = (message: unknown): boolean => this.heard.push(message) > 0
}

const sync = (parent: Parent, saidWithinMs = 60_000): Promise<boolean> =>
  syncBus(parent as unknown as ParentChannel, saidWithinMs)

describe('a restore whose bus is to be synced', () => {
  it('waits until the program that runs the bus has synced it', async () => {
    const parent = new Parent()
    const syncing = sync(parent)
    expect(parent.heard).to.deep.equal([SYNC_BUS])
    parent.emit('message', BUS_SYNCS)
    parent.emit('message', 'another word')
    parent.emit('message', BUS_SYNCED)
    expect(await syncing).to.equal(true)
    expect(parent.eventNames()).to.deep.equal([])
  })

  it('fails where that program is lost meanwhile', async () => {
    const parent = new Parent()
    const syncing = sync(parent).catch((error: unknown) => error)
    parent.emit('message', BUS_SYNCS)
    parent.emit('disconnect')
    expect(await syncing).to.be.instanceOf(BusUnavailable)
  })

  it('takes a program that says nothing, or a start without one, for a bus of another', async () => {
    expect(await sync(new Parent(), 1)).to.equal(false)
    const leaving = new Parent()
    const syncing = sync(leaving)
    leaving.emit('disconnect')
    expect(await syncing).to.equal(false)
    const alone = { send: undefined, on: () => process, off: () => process }
    expect(await syncBus(alone as unknown as ParentChannel)).to.equal(false)
  })
})
