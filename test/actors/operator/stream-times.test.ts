import { expect } from 'chai'
import { assertStreamsRestored, sampleTimes } from '../../../actors/operator/backup/stream-times.js'
import type { BackupPart, Manifest } from '../../../actors/operator/backup/manifest.js'

const STATE = { messages: 1_000, first_seq: 1, last_seq: 1_000, first_ts: 't1', last_ts: 't1000' }

const copiesOf = (state: typeof STATE, time = (seq: number): string | undefined => `t${seq}`) => ({
  facts: () => Promise.resolve({ config: {}, state }),
  storedAt: (_stream: string, seq: number) => Promise.resolve(time(seq)),
})

describe('the streams of a restore', () => {
  const restoredAs = async (copies: ReturnType<typeof copiesOf>, name = 'FEED_A') => {
    const times = await sampleTimes(copiesOf(STATE), name, STATE)
    const part = { kind: 'stream', name, stream: { config: {}, state: STATE, times } }
    const manifest = { parts: [part as unknown as BackupPart] } as unknown as Manifest
    return assertStreamsRestored(copies, manifest).catch((error: Error) => error.message)
  }

  it('have the times of messages from the first to the last noted, a bounded number, none of an empty one', async () => {
    const times = await sampleTimes(copiesOf(STATE), 'S', STATE)
    expect(times).to.have.length(256)
    expect(times[0]).to.deep.equal({ seq: 1, time: 't1' })
    expect(times.at(-1)).to.deep.equal({ seq: 1_000, time: 't1000' })
    const gap = copiesOf(STATE, (seq) => (seq === 1 ? undefined : 't'))
    expect(await sampleTimes(gap, 'S', STATE)).to.have.length(255)
    const empty = { messages: 0, first_seq: 0, last_seq: 0 }
    expect(await sampleTimes(copiesOf(STATE), 'S', empty)).to.deep.equal([])
  })

  it('are refused when sequences, count or storage times differ, but for claims, which expire', async () => {
    expect(await restoredAs(copiesOf(STATE))).to.equal(undefined)
    const shorter = { ...STATE, last_seq: 999 }
    expect(await restoredAs(copiesOf(shorter))).to.match(/restored as 1 to 999/)
    const fewer = { ...STATE, messages: 999 }
    expect(await restoredAs(copiesOf(fewer))).to.match(/with messages 999, and should have 1000/)
    const later = { ...STATE, first_ts: 'now' }
    expect(await restoredAs(copiesOf(later))).to.match(/with first_ts now, and should have t1/)
    const moved = copiesOf(STATE, (seq) => (seq < 500 ? `t${seq}` : 'now'))
    expect(await restoredAs(moved)).to.match(/message \d+ of FEED_A was restored as stored at now/)
    expect(await restoredAs(moved, 'KV_nonces')).to.equal(undefined)
  })
})
