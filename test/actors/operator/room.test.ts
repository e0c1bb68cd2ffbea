import { expect } from 'chai'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { BadBackup } from '../../../actors/operator/backup/manifest.js'
import {
  assertRoom,
  bytesTaken,
  databaseBytes,
  streamBytes,
  treeBytes,
} from '../../../actors/operator/backup/room.js'
import { lastAnswerWithinMs } from '../../../runtime/bus/nats-copies.js'
import { tempDir } from '../../support/temp-dir.js'

const MIB = 2 ** 20

describe('the room of a backup', () => {
  const dir = tempDir()
  after(() => dir.remove())

  it('is that of all parts, encrypted, and of the largest as a plain copy', async () => {
    expect(bytesTaken([])).to.equal(0)
    const sizes = [10 * MIB, 30 * MIB]
    expect(bytesTaken(sizes)).to.be.within(70 * MIB, 71 * MIB)
    await assertRoom(dir.path, sizes, () => Promise.resolve(bytesTaken(sizes)))
    const failure: unknown = await assertRoom(dir.path, sizes, () =>
      Promise.resolve(69.5 * MIB),
    ).catch((error: unknown) => error)
    expect(failure).to.be.instanceOf(BadBackup)
    expect((failure as Error).message).to.equal(
      'the backup may take 71 MiB, and its disk has 69 MiB free: name a directory on another one',
    )
    // The disk of this machine has room for a byte.
    await assertRoom(dir.path, [1])
  })

  it('counts logs of databases, directories below an archive, and what the bus states of its streams', async () => {
    writeFileSync(join(dir.path, 'a.db'), Buffer.alloc(5))
    expect(await databaseBytes(join(dir.path, 'a.db'))).to.equal(5)
    writeFileSync(join(dir.path, 'a.db-wal'), Buffer.alloc(7))
    expect(await databaseBytes(join(dir.path, 'a.db'))).to.equal(12)
    mkdirSync(join(dir.path, 'archive', 'FEED_a'), { recursive: true })
    writeFileSync(join(dir.path, 'archive', 'FEED_a', '1'), Buffer.alloc(3))
    expect(await treeBytes(join(dir.path, 'archive'))).to.deep.equal([3])
    expect(await treeBytes(undefined)).to.deep.equal([])
    const state = { messages: 1, first_seq: 1, last_seq: 1 }
    const copies = {
      facts: (name: string) =>
        Promise.resolve({ config: {}, state: name === 'A' ? { ...state, bytes: 9 } : state }),
    }
    expect(await streamBytes(copies, ['A', 'B'])).to.deep.equal([9, 0])
  })
})

describe('the end of a restored stream', () => {
  it('is waited for the longer the more the server makes of it', () => {
    expect(lastAnswerWithinMs(0)).to.equal(30_000)
    expect(lastAnswerWithinMs(1_000_000_000)).to.equal(1_030_000)
  })
})
