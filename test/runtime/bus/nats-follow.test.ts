import { expect } from 'chai'
import { createInbox, type NatsConnection } from 'nats'
import { StreamMissing } from '../../../runtime/bus/bus.js'
import { startFollower, type StreamFollowDeps } from '../../../runtime/bus/nats-follow.js'
import type { NatsStreams } from '../../../runtime/bus/nats-streams.js'
import { eventually } from '../../support/eventually.js'
import { recorder } from './probes.js'

/** A server whose readers never deliver anything, however far its stream goes. */
function muteServer(lastSeq: number) {
  const readersFrom: number[] = []
  const warnings: string[] = []
  const subscription = { unsubscribe: () => undefined }
  const connection = { subscribe: () => subscription, publish: () => undefined }
  const streams: NatsStreams = {
    answers: () => Promise.resolve(true),
    declare: () => Promise.resolve(),
    declareClaims: () => Promise.resolve(),
    state: () => Promise.resolve({ firstSeq: 1, lastSeq }),
    version: () => Promise.resolve(0),
    raiseVersion: () => Promise.resolve(),
    last: () => Promise.resolve(undefined),
    trim: () => Promise.resolve(),
    createReader: (_stream, fromSeq) => Promise.resolve(`r${readersFrom.push(fromSeq)}`),
    deleteReader: () => undefined,
  }
  const deps: StreamFollowDeps = {
    connection: connection as unknown as NatsConnection,
    newInbox: createInbox,
    streams,
    isConnected: () => true,
    onReconnect: () => () => undefined,
    watchEveryMs: 5,
    onWarning: (message) => warnings.push(message),
  }
  return { deps, readersFrom, warnings }
}

describe('the watchdog of a follower', () => {
  it('replaces a reader that is silent although the stream has more', async () => {
    const { deps, readersFrom, warnings } = muteServer(7)
    const follower = startFollower(deps, recorder('S', 3).options)
    await eventually(() => readersFrom.length >= 2)
    await follower.stop()
    await follower.ended
    expect(readersFrom.slice(0, 2)).to.deep.equal([3, 3])
    expect(warnings).to.deep.equal(['S: reader replaced, stalled'])
  })

  it('leaves a reader alone that is silent because nothing is there', async () => {
    const { deps, readersFrom } = muteServer(2)
    let asked = 0
    const streams: NatsStreams = {
      ...deps.streams,
      state: () => {
        asked += 1
        return Promise.resolve({ firstSeq: 1, lastSeq: 2 })
      },
    }
    const follower = startFollower({ ...deps, streams }, recorder('S', 3).options)
    await eventually(() => asked >= 10)
    await follower.stop()
    await follower.ended
    expect(readersFrom).to.deep.equal([3])
  })

  it('warns of a missing stream that it has read from, not of one that may come yet', async () => {
    const warningsFrom = async (fromSeq: number) => {
      const { deps, warnings } = muteServer(0)
      let asked = 0
      const streams: NatsStreams = {
        ...deps.streams,
        state: () => {
          asked += 1
          return Promise.reject(new StreamMissing('no stream S'))
        },
      }
      const follower = startFollower({ ...deps, streams }, recorder('S', fromSeq).options)
      await eventually(() => asked >= 3)
      await follower.stop()
      await follower.ended
      return warnings
    }
    expect(await warningsFrom(1)).to.deep.equal([])
    expect(await warningsFrom(4)).to.deep.equal(['S: StreamMissing: no stream S'])
  })
})
